#include "json/read_yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "json/scalar.h"

namespace gantree::json {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";
// The parser compares each %TAG with all others.
constexpr int kMaxTagDirectives = 64;

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{} : std::string_view(reinterpret_cast<const char*>(text));
}

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool next(yaml_parser_t& parser) {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser, &event_) == 1;
  }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

class YamlReader {
 public:
  YamlReader(std::string_view text, int line, Builder& builder, Storage& storage)
      : text_(text), first_line_(line), builder_(builder), storage_(storage) {
    GANTREE_CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  bool read(std::vector<NodeData>& roots) {
    if (!check_directives()) {
      return false;
    }
    for (;;) {
      if (!event_.next(parser_)) {
        return syntax_error();
      }
      switch (event_->type) {
        case YAML_STREAM_END_EVENT:
          return true;
        case YAML_DOCUMENT_START_EVENT:
          builder_.start();
          anchors_.clear();
          break;
        case YAML_DOCUMENT_END_EVENT:
          roots.push_back(builder_.last().node);
          break;
        default:
          if (!take()) {
            return false;
          }
      }
    }
  }

 private:
  struct Anchored {
    Built built;
    bool complete = false;
  };

  bool check_directives() {
    constexpr std::string_view kDirective = "%TAG";
    // All line breaks that YAML knows, by their last byte.
    constexpr std::string_view kBreaks = "\n\r\x85\xA8\xA9";
    int count = 0;
    for (std::size_t at = text_.find(kDirective); at != std::string_view::npos; at = text_.find(kDirective, at + 1)) {
      const bool starts_line = at == 0 || kBreaks.find(text_[at - 1]) != std::string_view::npos;
      count += starts_line ? 1 : 0;
      if (count > kMaxTagDirectives) {
        return builder_.fail_at(line_at(at), fmt::format("more than {} %TAG directives", kMaxTagDirectives),
                                Errc::kLimit);
      }
    }
    return true;
  }

  bool take() {
    switch (event_->type) {
      case YAML_ALIAS_EVENT:
        return alias();
      case YAML_SCALAR_EVENT:
        return scalar();
      case YAML_SEQUENCE_START_EVENT:
        return begin(Kind::kArray, view(event_->data.sequence_start.tag), view(event_->data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        return begin(Kind::kObject, view(event_->data.mapping_start.tag), view(event_->data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return end();
      default:
        return true;
    }
  }

  bool begin(Kind kind, std::string_view tag, std::string_view anchor) {
    const int line = line_of(event_->start_mark);
    if (builder_.awaits_key()) {
      return builder_.fail_at(line, fmt::format("a key must be a scalar, not {}", to_string(kind)));
    }
    const std::string_view expected = kind == Kind::kArray ? "seq" : "map";
    if (!tag.empty() && tag != "!" && tag != fmt::format("{}{}", kTagPrefix, expected)) {
      return unsupported_tag(tag, line);
    }
    open_anchors_.emplace_back(anchor);
    if (!anchor.empty()) {
      anchors_[std::string(anchor)] = {};
    }
    return builder_.begin(kind, line);
  }

  bool end() {
    if (!builder_.end()) {
      return false;
    }
    const std::string anchor = std::move(open_anchors_.back());
    open_anchors_.pop_back();
    if (!anchor.empty()) {
      anchors_[anchor] = {.built = builder_.last(), .complete = true};
    }
    return true;
  }

  bool alias() {
    const std::string name(view(event_->data.alias.anchor));
    const int line = line_of(event_->start_mark);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      return builder_.fail_at(line, fmt::format("alias *{} refers to no anchor before it", name));
    }
    if (!found->second.complete) {
      return builder_.fail_at(line, fmt::format("alias *{} refers to a value that contains it", name));
    }
    const Built& built = found->second.built;
    if (!builder_.awaits_key()) {
      return builder_.add(built, line);
    }
    const Kind kind = built.node.kind;
    if (kind == Kind::kArray || kind == Kind::kObject) {
      return builder_.fail_at(line, fmt::format("a key must be a scalar, not {}", to_string(kind)));
    }
    return builder_.key({static_cast<const char*>(built.node.content), built.node.size}, line);
  }

  bool scalar() {
    const auto& data = event_->data.scalar;
    const int line = line_of(event_->start_mark);
    const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
    const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string_view tag = view(data.tag);
    Kind kind = plain ? kind_of_plain(text) : Kind::kString;
    if (!tag.empty() && !apply_tag(tag, text, line, kind)) {
      return false;
    }
    if (builder_.awaits_key()) {
      return key(text, plain && tag.empty());
    }
    NodeData node;
    switch (kind) {
      case Kind::kNull:
        node = make_scalar(kind, {}, line);
        break;
      case Kind::kBool:
        node = make_scalar(kind, boolean_of_plain(text) ? "true" : "false", line);
        break;
      default:
        node = make_scalar(kind, storage_.keep(text), line);
    }
    remember(view(data.anchor), node);
    return builder_.add(node);
  }

  // A key is text, whatever it would be as a value.
  bool key(std::string_view text, bool may_merge) {
    const int line = line_of(event_->start_mark);
    if (may_merge && text == "<<") {
      return builder_.merge_key(line);
    }
    const std::string_view kept = storage_.keep(text);
    remember(view(event_->data.scalar.anchor), make_scalar(Kind::kString, kept, line));
    return builder_.key(kept, line);
  }

  void remember(std::string_view anchor, const NodeData& node) {
    if (!anchor.empty()) {
      anchors_[std::string(anchor)] = {.built = {.node = node}, .complete = true};
    }
  }

  // An explicit tag overrides what the text alone would be.
  bool apply_tag(std::string_view tag, std::string_view text, int line, Kind& kind) {
    if (tag == "!") {
      kind = Kind::kString;
      return true;
    }
    if (!tag.starts_with(kTagPrefix)) {
      return unsupported_tag(tag, line);
    }
    const std::string_view name = tag.substr(kTagPrefix.size());
    if (name == "str") {
      kind = Kind::kString;
      return true;
    }
    const Kind meant = kind_of_plain(text);
    const Kind wanted = name == "int" || name == "float" ? Kind::kNumber : name == "bool" ? Kind::kBool : Kind::kNull;
    if (wanted == Kind::kNull && name != "null") {
      return unsupported_tag(tag, line);
    }
    if (meant != wanted) {
      return builder_.fail_at(line, fmt::format("\"{}\" does not fit its tag !!{}", text, name));
    }
    kind = wanted;
    return true;
  }

  bool unsupported_tag(std::string_view tag, int line) {
    const bool core = tag.starts_with(kTagPrefix);
    return builder_.fail_at(line, fmt::format("the tag {}{} is not supported", core ? "!!" : "",
                                              core ? tag.substr(kTagPrefix.size()) : tag));
  }

  bool syntax_error() {
    GANTREE_CHECK(parser_.error != YAML_MEMORY_ERROR);
    if (parser_.error == YAML_READER_ERROR) {
      return builder_.fail_at(line_at(parser_.problem_offset),
                              fmt::format("the character U+{:04X} is not allowed", parser_.problem_value));
    }
    // The end of the text counts as a line of its own, where nobody would look.
    const int line = std::min(line_of(parser_.problem_mark), line_at(text_.empty() ? 0 : text_.size() - 1));
    const std::string_view problem = parser_.problem == nullptr ? "malformed YAML" : parser_.problem;
    const std::string_view context = parser_.context == nullptr ? "" : parser_.context;
    if (context == "while scanning a simple key") {
      return builder_.fail_at(line_of(parser_.context_mark), "expected \":\" after a key");
    }
    if (problem == "found character that cannot start any token") {
      return builder_.fail_at(line, bad_start());
    }
    if (problem == "did not find expected <document start>") {
      return builder_.fail_at(line, "expected \"---\" before another document");
    }
    if (const std::size_t end = problem.find(" in this context"); end != std::string_view::npos) {
      return builder_.fail_at(line, fmt::format("{} here", problem.substr(0, end)));
    }
    if (context.empty()) {
      return builder_.fail_at(line, problem);
    }
    const int context_line = line_of(parser_.context_mark);
    return builder_.fail_at(line, context_line == line
                                      ? fmt::format("{} {}", problem, context)
                                      : fmt::format("{} {} that starts on line {}", problem, context, context_line));
  }

  // The character is the next one that the scanner did not take.
  [[nodiscard]] std::string bad_start() const {
    const auto* next = reinterpret_cast<const char*>(parser_.buffer.pointer);
    const char character = parser_.unread > 0 ? *next : ' ';
    if (character == '\t') {
      return "a tab is used for indentation; YAML takes only spaces";
    }
    return fmt::format("a value cannot start with {}; put it in quotes", character);
  }

  [[nodiscard]] int line_at(std::size_t position) const {
    const std::string_view before = text_.substr(0, position);
    return first_line_ + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }
  [[nodiscard]] int line_of(const yaml_mark_t& mark) const { return first_line_ + static_cast<int>(mark.line); }

  yaml_parser_t parser_{};
  Event event_;
  std::string_view text_;
  int first_line_;
  Builder& builder_;
  Storage& storage_;
  std::unordered_map<std::string, Anchored> anchors_;
  std::vector<std::string> open_anchors_;
};

}  // namespace

bool read_yaml(std::string_view text, int line, Builder& builder, Storage& storage, std::vector<NodeData>& roots) {
  return YamlReader(text, line, builder, storage).read(roots);
}

}  // namespace gantree::json
