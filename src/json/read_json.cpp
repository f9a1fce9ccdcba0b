#include "json/read_json.h"

#include <simdjson.h>

#include <algorithm>

#include "json/scalar.h"

namespace gantree::json {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trimmed(std::string_view token) {
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

// Where a string holds a control character as it is; the end where none does.
std::size_t unescaped(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && static_cast<unsigned char>(text[i]) < 0x20) {
      return i;
    }
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    }
  }
  return text.size();
}

// Walks one document in order of position. Every value is looked at, so that
// nothing on-demand parsing would skip goes unchecked.
class Walk {
 public:
  Walk(Builder& builder, Storage& storage, const char* begin, int line)
      : builder_(builder), storage_(storage), counted_(begin), line_(line) {}

  JsonOutcome root(ondemand::document& document) {
    ondemand::json_type type{};
    if (document.type().get(type)) {
      return JsonOutcome::kNotJson;
    }
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      return document.get_object().get(object) ? JsonOutcome::kNotJson : walk(object);
    }
    ondemand::array array;
    return document.get_array().get(array) ? JsonOutcome::kNotJson : walk(array);
  }

  // The number or literal that is none; null where something else was wrong.
  [[nodiscard]] const char* bad_scalar() const { return bad_scalar_; }

 private:
  // Recursion is bounded: the builder refuses to nest deeper than kMaxDepth.
  JsonOutcome walk(ondemand::object& object) {
    if (!builder_.begin(Kind::kObject, line_)) {
      return JsonOutcome::kFailed;
    }
    for (simdjson::simdjson_result<ondemand::field> entry : object) {
      ondemand::field field;
      if (std::move(entry).get(field)) {
        return JsonOutcome::kNotJson;
      }
      const char* raw = field.key().raw();
      advance_to(raw);
      std::string_view key;
      if (!text_at(raw, key)) {
        if (field.unescaped_key().get(key)) {
          return JsonOutcome::kNotJson;
        }
        key = storage_.keep(key);
      }
      builder_.key(key, line_);
      if (const JsonOutcome outcome = walk(field.value()); outcome != JsonOutcome::kRead) {
        return outcome;
      }
    }
    return builder_.end() ? JsonOutcome::kRead : JsonOutcome::kFailed;
  }

  JsonOutcome walk(ondemand::array& array) {
    if (!builder_.begin(Kind::kArray, line_)) {
      return JsonOutcome::kFailed;
    }
    for (simdjson::simdjson_result<ondemand::value> entry : array) {
      ondemand::value value;
      if (std::move(entry).get(value)) {
        return JsonOutcome::kNotJson;
      }
      if (const JsonOutcome outcome = walk(value); outcome != JsonOutcome::kRead) {
        return outcome;
      }
    }
    return builder_.end() ? JsonOutcome::kRead : JsonOutcome::kFailed;
  }

  JsonOutcome walk(ondemand::value& value) {
    const std::string_view token = trimmed(value.raw_json_token());
    const char* start = token.data();
    advance_to(start);
    switch (token.empty() ? '\0' : token[0]) {
      case '{': {
        ondemand::object object;
        return value.get_object().get(object) ? JsonOutcome::kNotJson : walk(object);
      }
      case '[': {
        ondemand::array array;
        return value.get_array().get(array) ? JsonOutcome::kNotJson : walk(array);
      }
      case '"':
        return string(value, token);
      case 't':
      case 'f':
        return scalar(token == "true" || token == "false", Kind::kBool, token);
      case 'n':
        return scalar(token == "null", Kind::kNull, {});
      default:
        return scalar(is_json_number(token), Kind::kNumber, token);
    }
  }

  // The text is taken even where the source already has it unescaped, because
  // only that moves the parser over the string.
  JsonOutcome string(ondemand::value& value, std::string_view token) {
    if (token.find('\\') == std::string_view::npos) {
      ondemand::raw_json_string raw;
      if (value.get_raw_json_string().get(raw) || token.size() < 2) {
        return JsonOutcome::kNotJson;
      }
      return scalar(true, Kind::kString, token.substr(1, token.size() - 2));
    }
    std::string_view text;
    if (value.get_string().get(text)) {
      return JsonOutcome::kNotJson;
    }
    return scalar(true, Kind::kString, storage_.keep(text));
  }

  JsonOutcome scalar(bool valid, Kind kind, std::string_view text) {
    if (!valid) {
      bad_scalar_ = counted_;
      return JsonOutcome::kNotJson;
    }
    return builder_.add(make_scalar(kind, text, line_)) ? JsonOutcome::kRead : JsonOutcome::kFailed;
  }

  // The string that starts at `begin`, behind its quote, if it has no escapes.
  // It is known to be closed.
  static bool text_at(const char* begin, std::string_view& text) {
    const char* end = begin;
    while (*end != '"') {
      if (*end == '\\') {
        return false;
      }
      ++end;
    }
    text = {begin, static_cast<std::size_t>(end - begin)};
    return true;
  }

  void advance_to(const char* position) {
    for (; counted_ < position; ++counted_) {
      line_ += *counted_ == '\n' ? 1 : 0;
    }
  }

  Builder& builder_;
  Storage& storage_;
  const char* counted_;
  int line_;
  const char* bad_scalar_ = nullptr;
};

}  // namespace

struct JsonParser::State {
  Builder& builder;
  Storage& storage;
  ondemand::parser parser;
};

static_assert(JsonParser::kPadding >= simdjson::SIMDJSON_PADDING);

JsonParser::JsonParser(Builder& builder, Storage& storage)
    : state_(std::make_unique<State>(State{.builder = builder, .storage = storage, .parser = ondemand::parser{}})) {}
JsonParser::~JsonParser() = default;

JsonParser::Parsed JsonParser::parse(std::string_view text, int line) {
  ondemand::document document;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kPadding);
  if (state_->parser.iterate(padded).get(document)) {
    return {.outcome = JsonOutcome::kNotJson, .used = unescaped(text)};
  }
  state_->builder.start();
  const char* begin = text.data();
  Walk walk(state_->builder, state_->storage, begin, line);
  Parsed parsed{.outcome = walk.root(document), .used = text.size()};
  const char* stopped = walk.bad_scalar();
  // There is no location behind the last token.
  if (stopped != nullptr || !document.current_location().get(stopped)) {
    parsed.used = std::min(text.size(), static_cast<std::size_t>(stopped - begin));
  }
  return parsed;
}

}  // namespace gantree::json
