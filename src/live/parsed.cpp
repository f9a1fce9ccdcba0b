#include "live/parsed.h"

#include <optional>

#include "json/read.h"
#include "live/object.h"

namespace gantree {

Result<Parsed> parse(const std::string& text) {
  std::string bytes;
  bytes.reserve(text.size() + 64);
  bytes.append(text);
  auto documents = json::read_documents(std::string(kNoFile), std::move(bytes));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  std::optional<Object> found;
  auto taken = for_each_object(*documents, [&](const Object& object) -> Result<> {
    found = object;
    return {};
  });
  if (!taken) {
    return tl::unexpected(taken.error());
  }
  if (!found || documents->size() != 1) {
    return invalid("the API server sent no object where one was expected");
  }
  found->file = kNoFile;
  return Parsed{.document = std::move(documents->front()), .object = *found};
}

}  // namespace gantree
