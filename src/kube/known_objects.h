// Which objects of one resource the consumer has been told of: key, uid and version of each, about 100 bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/object_ref.h"

namespace gantree::kube {

class KnownObjects {
 public:
  KnownObjects();
  ~KnownObjects();
  KnownObjects(const KnownObjects&) = delete;
  KnownObjects& operator=(const KnownObjects&) = delete;

  enum class Change : std::uint8_t {
    kNew,
    kNewer,     // another version of an object that is known
    kReplaced,  // another object of the same name: replaced_uid() is the one it takes the place of
    kSame,      // known already, or (events only) older than what is known
  };

  // A list starts: what it does not contain has vanished. Ends with sweep().
  void begin_list();
  // An object of the list. Whatever version it has is the right one.
  [[nodiscard]] Change listed(const ObjectRef& object);
  // A change that a watch tells of. Versions that are numbers grow, so an older one is a repetition.
  [[nodiscard]] Change changed(const ObjectRef& object);
  // A removal that a watch tells of: true if that very object was known.
  [[nodiscard]] bool removed(const ObjectRef& object);

  using Visit = std::function<void(const ObjectRef&)>;
  // Forgets what the list did not contain, in the order of keys. resource_version is not given.
  void sweep(const Visit& vanished);
  // Forgets all, likewise.
  void clear(const Visit& removed);

  [[nodiscard]] std::string_view replaced_uid() const { return replaced_uid_; }
  [[nodiscard]] std::size_t size() const;

 private:
  struct Table;
  [[nodiscard]] Change take(const ObjectRef& object, bool only_newer);

  std::unique_ptr<Table> table_;
  std::string replaced_uid_;
};

}  // namespace gantree::kube
