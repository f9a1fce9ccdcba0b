// Any bytes as a list and as a watch, cut into pieces of any size: no crash, no object without a name, and the pieces
// make no difference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/known_objects.h"
#include "kube/object_stream.h"

namespace {

using namespace gantree;
using namespace gantree::kube;

std::string watched(std::string_view bytes, std::size_t piece) {
  LineBuffer lines(std::size_t{1} << 16);
  ObjectReader reader;
  KnownObjects known;
  std::string log;
  const auto take = [&](std::string_view line) {
    const Result<WatchEvent> event = reader.read_event(line);
    if (!event.has_value()) {
      return false;
    }
    const bool about_object =
        event->type != EventType::kBookmark && event->type != EventType::kError && event->type != EventType::kOther;
    GANTREE_CHECK(!event->json.empty() && (!about_object || !event->object.name.empty()));
    if (event->type == EventType::kDeleted) {
      log += known.removed(event->object) ? "-" : "=";
    } else if (about_object) {
      log += std::to_string(static_cast<int>(known.changed(event->object)));
    }
    return true;
  };
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    if (!lines.feed(bytes.substr(i, piece), take)) {
      break;
    }
  }
  known.begin_list();
  known.sweep([&](const ObjectRef& object) { log += std::string(object.name_space) + "/" + std::string(object.name); });
  GANTREE_CHECK(known.size() == 0);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  GANTREE_CHECK(watched(bytes, size + 1) == watched(bytes, 7));
  std::string padded(bytes);
  padded.resize(size + kJsonPadding);
  ObjectReader reader;
  std::size_t objects = 0;
  const Result<ListEnd> end =
      reader.read_list(std::string_view(padded).substr(0, size), [&](const ObjectRef& object, std::string_view json) {
        GANTREE_CHECK(!object.name.empty() && !json.empty());
        ++objects;
      });
  GANTREE_CHECK(!end.has_value() || !end->resource_version.empty());
  GANTREE_CHECK(objects <= size);
  return 0;
}
