// The last changes, in files beside the objects, so that watches go on after a restart where they were.
//
// Appended to before each commit and never waited for: what the process has written outlives it. Where the machine goes
// down, the files may lack what was committed; then they are begun anew, and watches with them. Two files take turns,
// so that the past has a limit:
//
//   FILE-history-old     older changes; goes when the other one is full, and that takes its place
//   FILE-history         what every table knew when it was begun, then the changes, in order
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "apiserver/store.h"
#include "base/error.h"

namespace gantree::apiserver {

// One thread at a time.
class History {
 public:
  // `file` is that of the objects.
  explicit History(std::string file);

  // Into a store that has all objects, of that revision; Store::loaded() is called.
  [[nodiscard]] Result<> load(Store& store, std::uint64_t revision);
  // Requires load(). What is appended and not committed is forgotten by the next load().
  [[nodiscard]] Result<> append(std::span<const Store::Change> changes);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[nodiscard]] std::string old_name() const { return name_ + "-old"; }
  // A file with nothing but what is known now; or the one that is there, up to that place.
  [[nodiscard]] Result<> begin();
  [[nodiscard]] Result<> go_on(std::size_t end);
  [[nodiscard]] Result<> open(const char* mode);
  [[nodiscard]] Result<> write(std::string_view bytes);
  void note(std::string_view table, std::uint64_t revision);

  std::string name_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::size_t size_ = 0;
  std::uint64_t known_ = 0;  // tables that are not in `last_` have not changed since
  Store::Floors last_;       // the last change of each table
  // Objects of which the file has something. Of others it is told what they were before, since nothing else may tell.
  std::unordered_set<std::string> in_file_;
  std::string buffer_;
};

}  // namespace gantree::apiserver
