#include "service/inbox.h"

#include <fmt/format.h>

#include <utility>

#include "service/dispatcher.h"

namespace gantree {

// Called on the thread of the watches.
class Inbox::KindSink final : public kube::Sink {
 public:
  KindSink(LoopMailbox& mailbox, Log& log, const ApiKind& kind)
      : mailbox_(mailbox), log_(log), group_(kind.group), kind_(kind.kind), namespaced_(kind.namespaced) {
    for (const std::string_view version : kind.versions) {
      versions_.emplace_back(version);
    }
  }

  void changed(const kube::ObjectRef& ref, std::string_view json) override {
    auto object = prune(group_, versions_.front(), kind_, json);
    if (!object) {
      log_.warning("an object cannot be read", {{"object", fmt::format("{} {}/{}", kind_, ref.name_space, ref.name)},
                                                {"what", object.error().message}});
      return;
    }
    mailbox_.post(ObjectChanged{std::move(*object)});
  }

  void removed(const kube::ObjectRef& ref, std::string_view) override {
    mailbox_.post(ObjectRemoved{
        .group = group_, .kind = kind_, .ns = std::string(ref.name_space), .name = std::string(ref.name)});
  }

  void synced() override {
    log_.debug("listed", {{"kind", kind_}});
    mailbox_.post(Listed{});
  }

  void trouble(const std::string& sentence, int failures) override {
    // One cut is nothing; a second in a row is worth a line, and then ever fewer.
    if (failures == 2 || (failures > 2 && (failures & (failures - 1)) == 0)) {
      log_.warning("cannot watch", {{"kind", kind_}, {"what", sentence}, {"failures", std::to_string(failures)}});
    } else {
      log_.debug("cannot watch", {{"kind", kind_}, {"what", sentence}});
    }
  }

  [[nodiscard]] kube::WatchRequest request() {
    kube::WatchRequest request;
    const kube::Resource resource = resource_of(group_, versions_.front(), kind_, namespaced_);
    request.wanted = {.group = resource.group, .plural = resource.plural, .versions = versions_};
    request.sink = this;
    return request;
  }

 private:
  LoopMailbox& mailbox_;
  Log& log_;
  std::string group_;
  std::vector<std::string> versions_;
  std::string kind_;
  bool namespaced_;
};

Inbox::Inbox(LoopMailbox& mailbox, Log& log, const std::vector<ApiKind>& kinds, kube::ReflectorOptions options)
    : options_(std::move(options)) {
  for (const ApiKind& kind : kinds) {
    sinks_.push_back(std::make_unique<KindSink>(mailbox, log, kind));
  }
}

Inbox::~Inbox() = default;

std::vector<kube::WatchRequest> Inbox::requests() {
  std::vector<kube::WatchRequest> requests;
  for (const auto& sink : sinks_) {
    requests.push_back(sink->request());
    requests.back().options = options_;
  }
  return requests;
}

}  // namespace gantree
