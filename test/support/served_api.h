// A fake server as the program sees one: lists in pages, watches, writes and leases, over HTTP without the network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/transport.h"
#include "kube/lease.h"
#include "kube/resource.h"
#include "support/fake_server.h"
#include "support/timeline.h"

namespace gantree::test {

// A watch as the server has it. Calls come at the server's time.
struct ServedWatch {
  std::function<void(int status)> begun;
  std::function<void(std::string line)> told;
  std::function<void()> ended;
};

class ApiServer {
 public:
  ApiServer(Timeline& timeline, std::vector<kube::Resource> resources);
  // Serves these instead.
  void serve(std::vector<kube::Resource> resources) { resources_ = std::move(resources); }

  [[nodiscard]] http::Outcome handle(const http::Request& request);
  // As long as the watch is there: whoever drops it is told nothing more.
  void watch(const http::Request& request, const std::shared_ptr<ServedWatch>& watch);

  // The kind that a request is about; "" where it is no kind that is served.
  [[nodiscard]] std::string kind_of(const std::string& target) const;

  FakeServer objects;
  std::function<void()> changed;                     // after every change of an object
  std::uint64_t gifts = 0;                           // bindings and admissions that were carried out
  std::function<void()> given;                       // after each of these
  std::function<void(const Tree& event)> announced;  // for every event that somebody writes

 private:
  struct Change {
    std::uint64_t version = 0;
    std::string kind;
    std::string line;
  };
  struct Watching {
    std::string kind;
    std::weak_ptr<ServedWatch> watch;
  };
  struct Page {
    std::vector<std::string> items;
    std::uint64_t version = 0;
  };

  [[nodiscard]] http::Outcome discover(bool core) const;
  [[nodiscard]] http::Outcome list(const std::string& kind, const std::string& query);
  [[nodiscard]] http::Outcome write(const http::Request& request);
  [[nodiscard]] http::Outcome lease(const http::Request& request, const std::string& name);
  void tell(const Stored& object, bool gone);

  Timeline& timeline_;
  std::vector<kube::Resource> resources_;
  std::vector<Change> history_;
  std::vector<Watching> watches_;
  std::map<std::string, Page> pages_;  // of lists that go on, by token
  std::map<std::string, kube::Lease> leases_;
  std::uint64_t leases_written_ = 0;
};

}  // namespace gantree::test
