// Which objects of a table a request is about, and in which form it wants them. Api thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/kind.h"
#include "apiserver/request.h"
#include "apiserver/selector.h"
#include "apiserver/status.h"
#include "apiserver/store.h"
#include "apiserver/table.h"

namespace gantree::apiserver {

struct Selection {
  std::string ns;    // "": all
  std::string name;  // "": all
  LabelSelector labels;
  FieldSelector fields;

  [[nodiscard]] bool all() const { return name.empty() && labels.all() && fields.terms().empty(); }
  [[nodiscard]] bool matches(const Key& key, const Facts& facts) const;
};
// Fails where a selector cannot be read, or names a field that cannot be selected by.
[[nodiscard]] Outcome<Selection> read_selection(const Request& request);

struct Form {
  enum class Shape : std::uint8_t { kObject, kTable, kMetadata };
  KindPtr kind;  // in whose version
  Shape shape = Shape::kObject;
  std::string include;                        // of tables: None, Metadata or Object
  std::shared_ptr<const TableFormat> format;  // of tables

  // For Content-Type.
  [[nodiscard]] std::string content_type() const;
};
// Fails where nothing of what the client accepts can be given.
[[nodiscard]] Outcome<Form> read_form(const Request& request);

// One object as the form wants it: of a table, a table of one row. Where somebody else has to convert the object, the
// variant must be there.
class Core;
[[nodiscard]] Bytes present(const Core& core, const Form& form, const Entry& entry);
// The same within a list: of a table, the row.
[[nodiscard]] Bytes present_item(const Core& core, const Form& form, const Entry& entry);

// The apiVersion in which the object is stored.
[[nodiscard]] std::string_view stored_version(const Entry& entry);

}  // namespace gantree::apiserver
