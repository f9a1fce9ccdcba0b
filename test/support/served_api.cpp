#include "support/served_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gantree::test {

namespace {

http::Outcome reply(int status, std::string body = "{}") {
  http::Outcome outcome;
  outcome.kind = http::Outcome::Kind::kReply;
  outcome.status = status;
  outcome.body = std::move(body);
  return outcome;
}

std::string path_of(const std::string& target) {
  return target.substr(0, target.find('?'));
}

// The value of a parameter of a query; "" where it has none.
std::string parameter(const std::string& target, const std::string& name) {
  const std::size_t query = target.find('?');
  std::size_t at = query == std::string::npos ? query : target.find(name + "=", query);
  if (at == std::string::npos) {
    return "";
  }
  at += name.size() + 1;
  return target.substr(at, target.find('&', at) - at);
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// What follows the resource in a path: namespace, name and subresource.
struct Place {
  const kube::Resource* resource = nullptr;
  std::string ns = {};
  std::string name = {};
  std::string part = {};
};

Place place_of(const std::vector<kube::Resource>& resources, const std::string& target) {
  const std::string path = path_of(target);
  for (const kube::Resource& resource : resources) {
    const std::string root = resource.group.empty() ? "/api/" + resource.version + "/"
                                                    : "/apis/" + resource.group + "/" + resource.version + "/";
    if (!path.starts_with(root)) {
      continue;
    }
    std::vector<std::string> words;
    for (std::size_t at = root.size(); at < path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      words.push_back(path.substr(at, end - at));
      at = end + 1;
    }
    Place place;
    if (resource.namespaced && words.size() > 2 && words[0] == "namespaces") {
      place.ns = words[1];
      words.erase(words.begin(), words.begin() + 2);
    }
    if (words.empty() || words[0] != resource.plural) {
      continue;
    }
    place.resource = &resource;
    place.name = words.size() > 1 ? words[1] : "";
    place.part = words.size() > 2 ? words[2] : "";
    return place;
  }
  return {};
}

int status_of(WriteResult result, bool created) {
  switch (result) {
    case WriteResult::kOk:
      return created ? 201 : 200;
    case WriteResult::kConflict:
      return 409;
    case WriteResult::kNotFound:
      return 404;
    case WriteResult::kInvalid:
      return 422;
  }
  return 500;
}

bool is_admitted(const Stored* workload) {
  return workload != nullptr && workload->tree.find({"status", "admission"}) != nullptr;
}

}  // namespace

ApiServer::ApiServer(Timeline& timeline, std::vector<kube::Resource> resources)
    : timeline_(timeline), resources_(std::move(resources)) {
  objects.listen([this](const Stored& object, bool gone) { tell(object, gone); });
}

std::string ApiServer::kind_of(const std::string& target) const {
  const Place place = place_of(resources_, target);
  return place.resource == nullptr ? "" : place.resource->kind;
}

void ApiServer::tell(const Stored& object, bool gone) {
  Change change{
      .version = objects.version(),
      .kind = object.kind,
      .line =
          fmt::format(R"({{"type":"{}","object":{}}})", gone ? "DELETED" : "MODIFIED", object.tree.to_json()) + "\n"};
  for (const Watching& watching : watches_) {
    if (const auto watch = watching.watch.lock(); watch != nullptr && watching.kind == change.kind) {
      watch->told(change.line);
    }
  }
  history_.push_back(std::move(change));
  if (changed) {
    changed();
  }
}

http::Outcome ApiServer::handle(const http::Request& request) {
  const std::string path = path_of(request.target);
  if (path == "/api" || path == "/apis") {
    return discover(path == "/api");
  }
  if (const std::size_t at = path.find("/leases"); at != std::string::npos) {
    return lease(request, path.substr(std::min(path.size(), at + 8)));
  }
  if (request.method != http::Method::kGet) {
    return write(request);
  }
  const std::string kind = kind_of(request.target);
  return kind.empty() ? reply(404) : list(kind, request.target);
}

http::Outcome ApiServer::discover(bool core) const {
  std::map<std::pair<std::string, std::string>, std::string> groups;
  for (const kube::Resource& resource : resources_) {
    std::string& all = groups[{resource.group, resource.version}];
    all += fmt::format(R"({}{{"resource":"{}","responseKind":{{"kind":"{}"}},"scope":"{}","verbs":["list","watch"]}})",
                       all.empty() ? "" : ",", resource.plural, resource.kind,
                       resource.namespaced ? "Namespaced" : "Cluster");
  }
  std::string items;
  for (const auto& [group, resources] : groups) {
    if (group.first.empty() == core) {
      items += fmt::format(R"({}{{"metadata":{{"name":"{}"}},"versions":[{{"version":"{}","resources":[{}]}}]}})",
                           items.empty() ? "" : ",", group.first, group.second, resources);
    }
  }
  return reply(200, fmt::format(R"({{"kind":"APIGroupDiscoveryList","items":[{}]}})", items));
}

http::Outcome ApiServer::list(const std::string& kind, const std::string& query) {
  Page page;
  if (const std::string token = parameter(query, "continue"); !token.empty()) {
    const auto found = pages_.find(token);
    if (found == pages_.end()) {
      return reply(410);
    }
    page = found->second;  // it may be asked for once more, where the answer is lost
  } else {
    page.version = objects.version();
    for (const Stored* object : objects.all(kind)) {
      page.items.push_back(object->tree.to_json());
    }
  }
  const std::size_t limit = std::min<std::size_t>(number(parameter(query, "limit")), page.items.size());
  std::string items;
  for (std::size_t i = 0; i < limit; ++i) {
    items += (items.empty() ? "" : ",") + page.items[i];
  }
  page.items.erase(page.items.begin(), page.items.begin() + static_cast<std::ptrdiff_t>(limit));
  std::string token;
  const std::uint64_t version = page.version;
  if (!page.items.empty()) {
    token = fmt::format("t{}", pages_.size() + history_.size() * 1000);
    pages_[token] = std::move(page);
  }
  return reply(200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", version,
                                token, items));
}

void ApiServer::watch(const http::Request& request, const std::shared_ptr<ServedWatch>& watch) {
  const std::string kind = kind_of(request.target);
  if (kind.empty()) {
    watch->begun(404);
    watch->ended();
    return;
  }
  watch->begun(200);
  const std::uint64_t from = number(parameter(request.target, "resourceVersion"));
  for (const Change& change : history_) {
    if (change.version > from && change.kind == kind) {
      watch->told(change.line);
    }
  }
  std::erase_if(watches_, [](const Watching& one) { return one.watch.expired(); });
  watches_.push_back({.kind = kind, .watch = watch});
  const auto end = timeline_.now() + std::chrono::seconds(std::max<std::uint64_t>(
                                         1, number(parameter(request.target, "timeoutSeconds"))));
  const std::weak_ptr<ServedWatch> weak = watch;
  const auto bookmark = [this, weak] {
    if (const auto one = weak.lock()) {
      one->told(fmt::format(R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}"}}}}}})",
                            objects.version()) +
                "\n");
    }
  };
  if (end - std::chrono::seconds(2) > timeline_.now()) {
    timeline_.at(end - std::chrono::seconds(2), kServer, bookmark);
  }
  timeline_.at(end, kServer, [this, weak] {
    if (const auto one = weak.lock()) {
      std::erase_if(watches_, [&](const Watching& other) { return other.watch.lock() == one; });
      one->ended();
    }
  });
}

http::Outcome ApiServer::write(const http::Request& request) {
  if (path_of(request.target).ends_with("/events")) {
    if (announced) {
      announced(Tree::parse(request.body));
    }
    return reply(201);
  }
  const Place place = place_of(resources_, request.target);
  if (place.resource == nullptr) {
    return reply(404);
  }
  Write order;
  order.object = {.group = place.resource->group,
                  .version = place.resource->version,
                  .kind = place.resource->kind,
                  .ns = place.ns,
                  .name = place.name,
                  .uid = {}};
  order.body = request.body;
  const Tree body = request.body.empty() ? Tree() : Tree::parse(request.body);
  const bool post = request.method == http::Method::kPost;
  if (place.part == "binding") {
    order.verb = WriteVerb::kBind;
    order.node = body.str({"target", "name"});
    order.object.uid = body.str({"metadata", "uid"});
  } else if (place.part == "eviction" && body.find({"deleteOptions", "dryRun"}) != nullptr) {
    return reply(objects.find(FakeServer::key(place.resource->kind, place.ns, place.name)) == nullptr ? 404 : 201);
  } else if (place.part == "eviction" || request.method == http::Method::kDelete) {
    order.verb = WriteVerb::kDelete;
    order.object.uid = body.str({place.part.empty() ? "preconditions" : "deleteOptions", "uid"});
  } else if (post) {
    order.verb = WriteVerb::kCreate;
    order.object.name = body.str({"metadata", "name"});
  } else {
    const bool json = std::any_of(request.headers.begin(), request.headers.end(), [](const http::Header& header) {
      return header.value == "application/json-patch+json";
    });
    order.verb = json ? WriteVerb::kJsonPatch : place.part == "status" ? WriteVerb::kPatchStatus : WriteVerb::kPatch;
  }
  const std::string key = FakeServer::key(place.resource->kind, place.ns, order.object.name);
  const bool had = is_admitted(objects.find(key));
  const WriteResult result = objects.apply(order);
  const bool gift = order.verb == WriteVerb::kBind || (place.resource->kind == "Workload" && !had);
  if (result == WriteResult::kOk && gift && (order.verb == WriteVerb::kBind || is_admitted(objects.find(key)))) {
    ++gifts;
    if (given) {
      given();
    }
  }
  return reply(status_of(result, post), R"({"kind":"Status","message":"as asked"})");
}

http::Outcome ApiServer::lease(const http::Request& request, const std::string& name) {
  const auto found = leases_.find(name);
  if (request.method == http::Method::kGet) {
    return found == leases_.end() ? reply(404) : reply(200, kube::to_json(found->second));
  }
  auto wanted = kube::read_lease(request.body);
  if (!wanted) {
    return reply(422);
  }
  const bool create = request.method == http::Method::kPost;
  if (create && leases_.contains(wanted->name)) {
    return reply(409);
  }
  if (!create && (found == leases_.end() || found->second.resource_version != wanted->resource_version)) {
    return reply(found == leases_.end() ? 404 : 409);
  }
  wanted->resource_version = std::to_string(++leases_written_);
  wanted->uid = "lease";
  leases_[wanted->name] = *wanted;
  return reply(create ? 201 : 200, kube::to_json(*wanted));
}

}  // namespace gantree::test
