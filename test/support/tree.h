// A JSON value that can be changed: what a simulated API server keeps, and the three kinds of patches it takes.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace gantree::test {

struct Tree {
  using Path = std::vector<std::string_view>;

  json::Kind kind = json::Kind::kNull;
  std::string text;  // of strings, numbers and booleans
  std::map<std::string, Tree, std::less<>> members;
  std::vector<Tree> items;

  // Requires JSON.
  [[nodiscard]] static Tree parse(const std::string& json);
  [[nodiscard]] static Tree of(json::Value value);
  [[nodiscard]] static Tree string(std::string_view text);
  [[nodiscard]] static Tree number(long long number);
  [[nodiscard]] static Tree boolean(bool value);
  [[nodiscard]] std::string to_json() const;

  [[nodiscard]] const Tree* find(const Path& path) const;  // nullptr where nothing, or null, is there
  [[nodiscard]] std::string str(const Path& path, std::string_view fallback = "") const;
  [[nodiscard]] int num(const Path& path, int fallback) const;
  [[nodiscard]] bool flag(const Path& path) const;
  // Makes objects on the way. Items of lists are named by number.
  Tree& at(const Path& path);
  void erase(const Path& path);

  // RFC 7386.
  void merge(const Tree& patch);
  // The operations `test`, `add` and `remove` of RFC 6902; false where a test fails, and then nothing has been changed.
  [[nodiscard]] bool patch(const Tree& operations);

  friend bool operator==(const Tree&, const Tree&) = default;

 private:
  void write(std::string& out) const;
};

}  // namespace gantree::test
