#include "kube/object_stream.h"

#include <simdjson.h>

#include <algorithm>

namespace gantree::kube {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kBufferKept = std::size_t{1} << 20;
static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

simdjson::padded_string_view padded(std::string_view text) {
  return simdjson::padded_string_view(text.data(), text.size(), text.size() + kJsonPadding);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(Errc::kIo, "the API server sent " + std::string(what) + " that is malformed");
}

// The text of a value that is an object; empty if it is none.
std::string_view object_text(ondemand::value value) {
  ondemand::object object;
  std::string_view text;
  if (value.get_object().get(object) || object.raw_json().get(text)) {
    return {};
  }
  return trimmed(text);
}

bool read_metadata(ondemand::object metadata, ObjectRef& object) {
  for (simdjson::simdjson_result<ondemand::field> entry : metadata) {
    ondemand::field field;
    std::string_view key;
    if (std::move(entry).get(field) || field.unescaped_key().get(key)) {
      return false;
    }
    std::string_view* target = key == "name"              ? &object.name
                               : key == "namespace"       ? &object.name_space
                               : key == "uid"             ? &object.uid
                               : key == "resourceVersion" ? &object.resource_version
                                                          : nullptr;
    if (target != nullptr && field.value().get_string().get(*target)) {
      return false;
    }
  }
  return true;
}

EventType event_type(std::string_view name) {
  if (name == "ADDED") {
    return EventType::kAdded;
  }
  if (name == "MODIFIED") {
    return EventType::kModified;
  }
  if (name == "DELETED") {
    return EventType::kDeleted;
  }
  if (name == "BOOKMARK") {
    return EventType::kBookmark;
  }
  return name == "ERROR" ? EventType::kError : EventType::kOther;
}

}  // namespace

struct ObjectReader::Parsers {
  ondemand::parser outer;  // the list or the event
  ondemand::parser inner;  // one object of it

  // The strings live in the inner parser until it reads the next object.
  bool metadata_of(std::string_view json, ObjectRef& object) {
    ondemand::document document;
    ondemand::object metadata;
    return !inner.iterate(padded(json)).get(document) &&
           !document.find_field_unordered("metadata").get_object().get(metadata) && read_metadata(metadata, object);
  }

  // In one pass: after an error the parser must not be asked again.
  bool status_of(std::string_view json, WatchEvent& event) {
    event.error_message = "the watch failed";
    ondemand::document document;
    ondemand::object status;
    if (inner.iterate(padded(json)).get(document) || document.get_object().get(status)) {
      return false;
    }
    for (simdjson::simdjson_result<ondemand::field> entry : status) {
      ondemand::field field;
      std::string_view key;
      if (std::move(entry).get(field) || field.unescaped_key().get(key)) {
        return false;
      }
      std::int64_t code = 0;
      if (key == "code") {
        if (field.value().get_int64().get(code)) {
          return false;
        }
        event.error_code = static_cast<int>(std::clamp<std::int64_t>(code, 0, 999));
      } else if (key == "message" && field.value().get_string().get(event.error_message)) {
        return false;
      }
    }
    return true;
  }

  bool items(ondemand::array array, const Visit& visit) {
    for (simdjson::simdjson_result<ondemand::value> entry : array) {
      ondemand::value item;
      if (std::move(entry).get(item)) {
        return false;
      }
      const std::string_view json = object_text(item);
      ObjectRef object;
      if (json.empty() || !metadata_of(json, object) || object.name.empty()) {
        return false;
      }
      visit(object, json);
    }
    return true;
  }

  bool list_metadata(ondemand::object metadata, ListEnd& end) {
    for (simdjson::simdjson_result<ondemand::field> entry : metadata) {
      ondemand::field field;
      std::string_view key;
      if (std::move(entry).get(field) || field.unescaped_key().get(key)) {
        return false;
      }
      std::string* target = key == "resourceVersion" ? &end.resource_version
                            : key == "continue"      ? &end.continue_token
                                                     : nullptr;
      std::string_view text;
      if (target != nullptr) {
        if (field.value().get_string().get(text)) {
          return false;
        }
        target->assign(text);
      }
    }
    return true;
  }
};

ObjectReader::ObjectReader() : parsers_(std::make_unique<Parsers>()) {}
ObjectReader::~ObjectReader() = default;

Result<ListEnd> ObjectReader::read_list(std::string_view text, const Visit& visit) {
  ondemand::document document;
  ondemand::object root;
  if (parsers_->outer.iterate(padded(text)).get(document) || document.get_object().get(root)) {
    return malformed("a list");
  }
  ListEnd end;
  for (simdjson::simdjson_result<ondemand::field> entry : root) {
    ondemand::field field;
    std::string_view key;
    if (std::move(entry).get(field) || field.unescaped_key().get(key)) {
      return malformed("a list");
    }
    ondemand::value value = field.value();
    ondemand::object metadata;
    ondemand::array array;
    bool is_null = false;
    if (key == "metadata" && (value.get_object().get(metadata) || !parsers_->list_metadata(metadata, end))) {
      return malformed("a list");
    }
    // A list without items is written as null by some.
    if (key == "items" && !(!value.is_null().get(is_null) && is_null) &&
        (value.get_array().get(array) || !parsers_->items(array, visit))) {
      return malformed("a list");
    }
  }
  if (end.resource_version.empty()) {
    return malformed("a list without a resourceVersion");
  }
  return end;
}

Result<WatchEvent> ObjectReader::read_event(std::string_view text) {
  ondemand::document document;
  ondemand::object root;
  if (parsers_->outer.iterate(padded(text)).get(document) || document.get_object().get(root)) {
    return malformed("an event");
  }
  WatchEvent event;
  for (simdjson::simdjson_result<ondemand::field> entry : root) {
    ondemand::field field;
    std::string_view key;
    if (std::move(entry).get(field) || field.unescaped_key().get(key)) {
      return malformed("an event");
    }
    std::string_view type;
    if (key == "type") {
      if (field.value().get_string().get(type)) {
        return malformed("an event");
      }
      event.type = event_type(type);
    } else if (key == "object") {
      event.json = object_text(field.value());
    }
  }
  if (event.json.empty()) {
    return malformed("an event");
  }
  if (event.type == EventType::kOther) {
    return event;
  }
  const bool read = event.type == EventType::kError ? parsers_->status_of(event.json, event)
                                                    : parsers_->metadata_of(event.json, event.object);
  const bool named = event.type == EventType::kError || event.type == EventType::kBookmark;
  if (!read || (!named && event.object.name.empty())) {
    return malformed("an event");
  }
  return event;
}

bool LineBuffer::feed(std::string_view bytes, const std::function<bool(std::string_view)>& line) {
  const std::size_t searched = buffer_.size();
  const std::size_t needed = searched + bytes.size() + kJsonPadding;
  if (needed > buffer_.capacity()) {
    buffer_.reserve(std::max(needed, buffer_.capacity() * 2));
  }
  buffer_.append(bytes);
  std::size_t begin = 0;
  for (std::size_t end = buffer_.find('\n', searched); end != std::string::npos; end = buffer_.find('\n', begin)) {
    const std::string_view text(buffer_.data() + begin, end - begin);
    begin = end + 1;
    if (text.find_first_not_of(" \t\r") != std::string_view::npos && !line(text)) {
      clear();
      return false;
    }
  }
  buffer_.erase(0, begin);
  if (buffer_.size() > max_line_) {
    clear();
    return false;
  }
  if (buffer_.empty() && buffer_.capacity() > kBufferKept) {
    clear();  // one huge object is no reason to keep its memory
  }
  return true;
}

void LineBuffer::clear() {
  buffer_ = std::string();
}

}  // namespace gantree::kube
