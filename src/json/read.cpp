#include "json/read.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "json/builder.h"
#include "json/read_json.h"
#include "json/read_yaml.h"

namespace gantree::json {
namespace {

// Lines are counted in ints and sizes kept in 32 bits.
constexpr std::size_t kMaxBytes = std::numeric_limits<std::int32_t>::max();

// How much of an unexpected word a message shows.
constexpr std::size_t kMaxShown = 20;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// "---" or "..." at the start of a line: a document boundary anywhere in
// YAML, even within quotes, and never part of valid JSON.
bool is_marker(std::string_view text, std::size_t at, std::string_view marker) {
  return text.substr(at, 3) == marker && (at + 3 == text.size() || is_blank(text[at + 3]));
}

bool opens_json(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '{' || text[at] == '[');
}

int line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

// Cuts a file into its JSON documents and the stretches of YAML between them.
class Stream {
 public:
  Stream(std::string_view file, Storage& storage, std::size_t size)
      : storage_(storage), text_(storage.source.data(), size), builder_(file, storage), json_(builder_, storage) {}

  bool read() {
    while (skip_to_content()) {
      const bool done = opens_json(text_, at_) ? json_document() : yaml_stretch();
      if (!done) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] const std::vector<NodeData>& roots() const { return roots_; }
  [[nodiscard]] bool refers_to_source() const { return refers_to_source_; }
  [[nodiscard]] const Error& failure() const { return builder_.failure(); }

 private:
  // Moves over blanks, comments and document markers. False at the end.
  bool skip_to_content() {
    start_ = at_;
    for (;;) {
      at_ = skip_blanks(at_);
      if (at_ == text_.size()) {
        return false;
      }
      const bool at_line_start = at_ == 0 || text_[at_ - 1] == '\n' || text_.substr(0, at_) == kByteOrderMark;
      if (text_.substr(at_).starts_with(kByteOrderMark)) {
        at_ += kByteOrderMark.size();
        start_ = at_;
      } else if (at_line_start && (is_marker(text_, at_, "---") || is_marker(text_, at_, "..."))) {
        start_ = text_[at_] == '-' ? at_ : at_ + 3;
        at_ += 3;
        within_json_ = false;
      } else {
        return true;
      }
    }
  }

  [[nodiscard]] std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size()) {
      if (is_blank(text_[at])) {
        ++at;
      } else if (text_[at] == '#' && (at == 0 || is_blank(text_[at - 1]))) {
        at = std::min(text_.find('\n', at), text_.size());
      } else {
        break;
      }
    }
    return at;
  }

  // The start of the first line behind `from` that begins with a marker.
  [[nodiscard]] std::size_t next_marker(std::size_t from) const {
    for (std::size_t line = text_.find('\n', from); line != std::string_view::npos; line = text_.find('\n', line)) {
      ++line;
      if (is_marker(text_, line, "---") || is_marker(text_, line, "...")) {
        return line;
      }
    }
    return text_.size();
  }

  bool json_document() {
    if (!within_json_) {
      region_end_ = next_marker(at_);
    }
    const std::size_t end = region_end_;
    const std::string_view region = text_.substr(at_, end - at_);
    // Most often the text up to the marker is one document. Where several
    // follow each other, each is cut out first: the parser indexes all it is
    // given, which would take quadratic time.
    JsonParser::Parsed parsed;
    if (!within_json_) {
      parsed = json_.parse(region, line());
    }
    if (parsed.outcome == JsonOutcome::kNotJson) {
      const std::size_t length = balanced_length(region);
      if (length > 0) {
        parsed = json_.parse(region.substr(0, length), line());
      }
    }
    switch (parsed.outcome) {
      case JsonOutcome::kFailed:
        return false;
      case JsonOutcome::kNotJson:
        return not_json(at_ + parsed.used, end);
      case JsonOutcome::kRead:
        break;
    }
    roots_.push_back(builder_.last().node);
    refers_to_source_ = true;
    at_ = skip_blanks(at_ + parsed.used);
    within_json_ = at_ < end;
    if (within_json_ && !opens_json(text_, at_)) {
      return builder_.fail_at(line(), "expected \"---\" or the end of the file after a JSON document");
    }
    return true;
  }

  // What opens with {" is meant as JSON: if it reads as YAML at all, then as
  // something else than its author thinks.
  bool not_json(std::size_t stopped, std::size_t end) {
    const std::size_t second = skip_blanks(at_ + 1);
    const bool meant = text_[at_] == '{' && second < end && text_[second] == '"';
    // The YAML parser has the better messages, so it speaks first.
    if (!yaml_until(end)) {
      return false;
    }
    if (!meant) {
      return true;
    }
    const std::string_view rest = text_.substr(stopped, end - stopped);
    const std::string_view token = rest.substr(0, std::max<std::size_t>(1, rest.find_first_of(",:[]{}\" \t\r\n")));
    const bool visible = !token.empty() && static_cast<unsigned char>(token[0]) > ' ';
    return builder_.fail_at(line_at(text_, stopped),
                            visible ? fmt::format("malformed JSON: unexpected {}", token.substr(0, kMaxShown))
                                    : "malformed JSON: a line break or tab within a string");
  }

  // Length of the object or array at the start of `text` by its brackets
  // alone; 0 if it does not end.
  [[nodiscard]] static std::size_t balanced_length(std::string_view text) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted) {
        i += c == '\\' ? 1 : 0;
        quoted = c != '"';
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return i + 1;
      }
    }
    return 0;
  }

  // Everything up to the next document that looks like JSON, or up to "...",
  // behind which directives and documents without "---" may start.
  bool yaml_stretch() {
    const bool directives = text_[at_] == '%';
    std::size_t end = next_marker(at_);
    if (directives && is_marker(text_, end, "---")) {
      end = next_marker(end);
    }
    while (is_marker(text_, end, "---") && !opens_json(text_, skip_blanks(end + 3))) {
      end = next_marker(end);
    }
    return yaml_until(end);
  }

  // From the marker of this document, or with the indentation of its first line.
  bool yaml_until(std::size_t end) {
    at_ = start_;
    const int first_line = line();
    at_ = end;
    return read_yaml(text_.substr(start_, end - start_), first_line, builder_, storage_, roots_);
  }

  // The line of at_, which may have moved back since.
  int line() {
    const char* begin = text_.data();
    if (at_ < counted_) {
      line_ -= static_cast<int>(std::count(begin + at_, begin + counted_, '\n'));
    } else {
      line_ += static_cast<int>(std::count(begin + counted_, begin + at_, '\n'));
    }
    counted_ = at_;
    return line_;
  }

  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

  Storage& storage_;
  std::string_view text_;
  Builder builder_;
  JsonParser json_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // where the document's text starts, marker included
  std::size_t counted_ = 0;
  int line_ = 1;
  bool within_json_ = false;    // behind a JSON document, no marker seen since
  std::size_t region_end_ = 0;  // the marker that ends the JSON documents here
  bool refers_to_source_ = false;
  std::vector<NodeData> roots_;
};

// What no document may contain. Nothing where the text is fine.
std::string bad_bytes(std::string_view text) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fmt::format("{}: a NUL byte is not allowed", line_at(text, nul));
  }
  if (simdjson::validate_utf8(text.data(), text.size())) {
    return {};
  }
  // A line break is never part of a longer sequence, so one line is to blame.
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    if (!simdjson::validate_utf8(text.data() + start, end - start)) {
      return fmt::format("{}: the text is not valid UTF-8", line_at(text, start));
    }
    start = end;
  }
  return {};
}

}  // namespace

Result<std::vector<Document>> read_documents(const std::string& file, std::string bytes) {
  if (bytes.size() > kMaxBytes) {
    return fail(Errc::kLimit, fmt::format("{}: larger than {} bytes", file, kMaxBytes));
  }
  if (const std::string problem = bad_bytes(bytes); !problem.empty()) {
    return invalid(fmt::format("{}:{}", file, problem));
  }
  const std::size_t size = bytes.size();
  const auto storage = std::make_shared<Storage>(size);
  storage->source = std::move(bytes);
  storage->source.append(JsonParser::kPadding, '\0');
  Stream stream(file, *storage, size);
  if (!stream.read()) {
    return tl::unexpected<Error>(stream.failure());
  }
  if (!stream.refers_to_source()) {
    storage->source = {};
  }
  std::vector<Document> documents;
  for (const NodeData& root : stream.roots()) {
    if (root.kind != Kind::kNull) {
      auto* kept = static_cast<NodeData*>(storage->memory.allocate(sizeof(NodeData), alignof(NodeData)));
      documents.emplace_back(file, storage, Value(new (kept) NodeData(root)));
    }
  }
  return documents;
}

}  // namespace gantree::json
