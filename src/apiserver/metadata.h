// The rules of metadata: what a new object gets, what a change may not touch, and when an object may go.
//
// Pure but for the clock and random numbers given.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "apiserver/field_error.h"
#include "apiserver/json.h"
#include "apiserver/kind.h"
#include "apiserver/status.h"

namespace gantree::apiserver {

class Random {
 public:
  Random();
  [[nodiscard]] std::string uid();
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  [[nodiscard]] std::string suffix();  // of generated names: five letters without vowels

 private:
  std::mt19937_64 engine_;
};

// Requires that object["metadata"] is an object. `now` is RFC 3339.
[[nodiscard]] Outcome<> prepare_new(const Kind& kind, std::string_view ns, std::string_view now, Random& random,
                                    Object& object);

// Takes over from `old` what nobody may change: uid, times, generation. `desired` keeps its resourceVersion.
void carry_metadata(const Object& old, Object& desired);
// Conflicts of uid or resourceVersion; where none is given (and the kind allows that), none.
[[nodiscard]] Outcome<> check_versions(const Kind& kind, const Object& old, const Object& desired,
                                       bool must_have_version);
// What may never change, and finalizers that come too late.
[[nodiscard]] FieldErrors check_metadata_change(const Object& old, const Object& desired);

// Whether anything but metadata and status differs.
[[nodiscard]] bool wants_differ(const Object& a, const Object& b, bool has_status);

[[nodiscard]] bool has_finalizer(const Object& object, std::string_view finalizer);
[[nodiscard]] bool has_finalizers(const Object& object);
// Adds it once.
void add_finalizer(Object& object, std::string_view finalizer);
void remove_finalizer(Object& object, std::string_view finalizer);
[[nodiscard]] bool is_deleting(const Object& object);

// With apiVersion, kind and metadata first, as everybody expects to read it.
[[nodiscard]] Object in_usual_order(Object object);

}  // namespace gantree::apiserver
