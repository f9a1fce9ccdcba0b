// What `gantree up` keeps in its folder besides the objects: lock, token, certificate, kubeconfig.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/tls.h"

namespace gantree {

// The folder, ours alone as long as this lives.
class DataFolder {
 public:
  // Makes it where it is not there. "": one in the system's folder of temporary files, which goes with this.
  // Fails where another process uses it. What it makes goes with this, unless it is told to keep() it or was not empty
  // before: a start that fails leaves nothing behind.
  [[nodiscard]] static Result<std::unique_ptr<DataFolder>> open(const std::string& path);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  void keep() { fresh_ = false; }

  [[nodiscard]] std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  [[nodiscard]] const std::string& path() const { return path_; }

  // What is kept in a file; made where there is none.
  [[nodiscard]] Result<std::string> token() const;
  struct Certificate {
    http::ServerTls tls;
    std::string authority;
  };
  // Good for the host and for this machine's own names.
  [[nodiscard]] Result<Certificate> certificate(const std::string& host) const;
  // Writes it and gives its path.
  [[nodiscard]] Result<std::string> write_kubeconfig(const std::string& server, const std::string& authority,
                                                     const std::string& token) const;

 private:
  DataFolder(std::string path, int lock, bool temporary, bool fresh)
      : path_(std::move(path)), lock_(lock), temporary_(temporary), fresh_(fresh) {}

  std::string path_;
  int lock_ = -1;
  bool temporary_ = false;
  bool fresh_ = false;  // it was not there, or empty
};

// Where it is unless the user says: below XDG_DATA_HOME, else .gantree in the working directory.
[[nodiscard]] std::string default_data_folder();

}  // namespace gantree
