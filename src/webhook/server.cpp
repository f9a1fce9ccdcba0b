#include "webhook/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"
#include "dialects/admission.h"
#include "dialects/mutation.h"
#include "kueue/conversion.h"

namespace gantree::webhook {

namespace {

constexpr std::string_view kValidate = "/validate/";
constexpr std::string_view kMutate = "/mutate/";
constexpr std::string_view kEnqueue = "/enqueue/";
constexpr std::string_view kConvert = "/convert";
constexpr std::string_view kStatus = "status";
// The API server takes objects of 3 MiB; an update brings the old one along.
constexpr std::size_t kLargestBody = std::size_t{8} << 20;
// API servers call as often at once as they write at once, and anybody in the cluster can connect: together they must
// not fill the memory that the scheduler lives in.
constexpr std::size_t kMostConnections = 512;
constexpr std::size_t kLargeBody = std::size_t{128} << 10;
constexpr std::size_t kMostLargeBodies = 24;
constexpr std::chrono::milliseconds kRest{5'000};
// A handshake takes its time where many come at once.
constexpr std::chrono::milliseconds kHeaderRest{1'000};

bool is_of(const Review& review, const ApiKind& kind) {
  return review.group == kind.group && review.kind == kind.kind &&
         std::find(kind.versions.begin(), kind.versions.end(), review.version) != kind.versions.end();
}

std::string_view text_of(json::Value metadata, std::string_view key) {
  const json::Value value = metadata ? metadata[key] : json::Value();
  return value && value.kind() == json::Kind::kString ? value.text() : std::string_view{};
}

// What is made of an object that comes, and of the one it replaces (nullptr: none).
using Look = std::function<Answer(const NamedObject& named, const Object* old)>;

Answer judge(const ApiKind& kind, const Review& review, const Look& look, std::string_view subresource = "") {
  if (!is_of(review, kind)) {
    return refusal(400, fmt::format("this webhook is for {}, not for {} of {}/{}", kind.kind, review.kind, review.group,
                                    review.version));
  }
  const bool brings = review.operation == Operation::kCreate || review.operation == Operation::kUpdate;
  if (!brings || review.subresource != subresource) {
    return {};
  }
  const auto object_of = [&](json::Value value) {
    return Object{
        .file = "request", .group = review.group, .version = review.version, .kind = review.kind, .value = value};
  };
  const Object object = object_of(review.object);
  const Object old = object_of(review.old_object);
  std::string_view name = review.name.empty() ? text_of(object.metadata(), "name") : review.name;
  name = name.empty() ? text_of(object.metadata(), "generateName") : name;
  return look({object, review.ns, name}, review.old_object ? &old : nullptr);
}

Answer to_answer(Admission admission) {
  Answer answer = admission.refusal ? refusal(403, std::move(*admission.refusal)) : Answer{};
  answer.warnings = std::move(admission.warnings);
  return answer;
}

Answer to_answer(Mutation mutation) {
  if (mutation.refusal) {
    return refusal(403, std::move(*mutation.refusal));
  }
  return {.warnings = std::move(mutation.warnings), .patch = std::move(mutation.patch)};
}

enum class Asker : std::uint8_t { kGantree, kSomebody, kUnknown };

// Where it cannot be known who we are nobody is kept from anything: it might be us.
Asker asker_of(const Review& review, const Surroundings& surroundings) {
  const std::optional<std::string> self = surroundings.self ? surroundings.self() : "nobody";
  if (!self) {
    return Asker::kUnknown;
  }
  return self->empty() || *self == review.user ? Asker::kGantree : Asker::kSomebody;
}

// Gantree itself tries again, as it does whenever an API server cannot answer.
Answer try_again() {
  return refusal(503,
                 "only Gantree may change this, and this replica of it, which has just started, does not know yet by "
                 "which user the API server knows it: try again in a moment");
}

// What only those may store who administer queues, and Gantree itself.
Answer judge_reserved(const Validator& validator, const Review& review, const NamedObject& named, const Object* old,
                      const Surroundings& surroundings) {
  if (validator.reserved == nullptr || !surroundings.administers) {
    return {};
  }
  const Asker asker = asker_of(review, surroundings);
  auto reserved = asker == Asker::kGantree ? std::nullopt : validator.reserved(named, old);
  if (!reserved) {
    return {};
  }
  const auto administers = surroundings.administers(review);
  if (administers && *administers) {
    return {};
  }
  if (asker == Asker::kUnknown) {
    return try_again();
  }
  return administers ? refusal(403, std::move(*reserved))
                     : refusal(500, fmt::format("{}, and whether \"{}\" may is not known: {}", *reserved, review.user,
                                                administers.error().message));
}

// Of a status that somebody else writes than Gantree, whose own follow from what it has read.
Answer judge_status(const Validator& validator, const Review& review, const Surroundings& surroundings) {
  if (validator.wrong_status == nullptr || asker_of(review, surroundings) != Asker::kSomebody) {
    return {};
  }
  const Look look = [&](const NamedObject& named, const Object* old) {
    auto wrong = old == nullptr || is_leaving(named.object) ? std::nullopt : validator.wrong_status(named, *old);
    return wrong ? refusal(403, std::move(*wrong)) : Answer{};
  };
  return judge(validator.kind, review, look, kStatus);
}

// Of an object that somebody deletes.
Answer judge_removal(const Validator& validator, const Review& review) {
  if (validator.needed == nullptr || !review.old_object) {
    return {};
  }
  const Object old{.file = "request",
                   .group = review.group,
                   .version = review.version,
                   .kind = review.kind,
                   .value = review.old_object};
  auto needed = validator.needed({old, review.ns, review.name});
  return needed ? refusal(403, std::move(*needed)) : Answer{};
}

// Of a change to an object of a kind of others: what only Gantree may change.
Answer judge_reserved(const Mutator& mutator, const Review& review, const NamedObject& named, const Object* old,
                      const Surroundings& surroundings) {
  if (old == nullptr || mutator.reserved == nullptr || is_leaving(named.object)) {
    return {};
  }
  const Asker asker = asker_of(review, surroundings);
  auto reserved = asker == Asker::kGantree ? std::nullopt : mutator.reserved(named, *old);
  if (!reserved) {
    return {};
  }
  return asker == Asker::kUnknown ? try_again() : refusal(403, std::move(*reserved));
}

// The same: what is added to it where somebody else makes it. To do so to a change of Gantree's own would be as wrong
// as not to do so to another's.
Answer heed(const Mutator& mutator, const Review& review, const NamedObject& named, const Object& old,
            const Surroundings& surroundings) {
  const bool heeds = mutator.heed != nullptr && !is_leaving(named.object);
  const Asker asker = heeds ? asker_of(review, surroundings) : Asker::kGantree;
  if (asker == Asker::kGantree) {
    return to_answer(change(mutator, named, &old));
  }
  Mutation mutation = mutator.heed(named, old);
  return asker == Asker::kUnknown && !mutation.patch.empty() ? try_again() : to_answer(std::move(mutation));
}

http::Response json_response(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

void add_mutator(Routes& routes, const Mutator& mutator, const Surroundings& surroundings) {
  routes.validate(mutator.plural, [&mutator, surroundings](const Review& review) {
    return judge(mutator.kind, review, [&](const NamedObject& named, const Object* old) {
      const Answer reserved = judge_reserved(mutator, review, named, old, surroundings);
      return reserved.allowed ? to_answer(admit(mutator, named, old)) : reserved;
    });
  });
  routes.mutate(mutator.plural, [&mutator, surroundings](const Review& review) {
    return judge(mutator.kind, review, [&](const NamedObject& named, const Object* old) {
      return old == nullptr ? to_answer(create(mutator, named, surroundings.defaults_in(named.ns)))
                            : heed(mutator, review, named, *old, surroundings);
    });
  });
  routes.enqueue(mutator.plural, [&mutator, defaults_in = surroundings.defaults_in](const Review& review) {
    return judge(mutator.kind, review, [&](const NamedObject& named, const Object* old) {
      // What is there already goes on.
      return old != nullptr ? Answer{} : to_answer(enqueue(mutator, named, defaults_in(named.ns)));
    });
  });
}

}  // namespace

void Routes::validate(std::string_view name, Judge judge) {
  const bool added = judges_.emplace(fmt::format("{}{}", kValidate, name), std::move(judge)).second;
  GANTREE_CHECK(added);
}

void Routes::mutate(std::string_view name, Judge judge) {
  const bool added = judges_.emplace(fmt::format("{}{}", kMutate, name), std::move(judge)).second;
  GANTREE_CHECK(added);
}

void Routes::enqueue(std::string_view name, Judge judge) {
  const bool added = judges_.emplace(fmt::format("{}{}", kEnqueue, name), std::move(judge)).second;
  GANTREE_CHECK(added);
}

const Judge* Routes::find(std::string_view path) const {
  const auto it = judges_.find(path);
  return it == judges_.end() ? nullptr : &it->second;
}

const Convert* Routes::find_convert(std::string_view path) const {
  return path == kConvert && convert_ ? &convert_ : nullptr;
}

Routes dialect_routes(Surroundings surroundings) {
  if (!surroundings.defaults_in) {
    surroundings.defaults_in = [](std::string_view) { return JobDefaults{}; };
  }
  Routes routes;
  routes.convert([](json::Value object, std::string_view api_version, kueue::ExpansionBudget& budget) {
    return kueue::convert(object, api_version, budget);
  });
  for (const Validator& validator : all_validators()) {
    routes.validate(validator.route(), [&validator, surroundings](const Review& review) {
      if (review.operation == Operation::kDelete && is_of(review, validator.kind)) {
        return judge_removal(validator, review);
      }
      if (review.subresource == kStatus) {
        return judge_status(validator, review, surroundings);
      }
      return judge(validator.kind, review, [&](const NamedObject& named, const Object* old) {
        const Answer reserved = judge_reserved(validator, review, named, old, surroundings);
        return reserved.allowed ? to_answer(admit(validator, named, old)) : reserved;
      });
    });
    if (validator.made != nullptr) {
      routes.mutate(validator.route(), [&validator](const Review& review) {
        return judge(validator.kind, review, [&](const NamedObject& named, const Object* old) {
          return old == nullptr ? to_answer(validator.made(named)) : Answer{};
        });
      });
    }
  }
  for (const Mutator& mutator : all_mutators()) {
    add_mutator(routes, mutator, surroundings);
  }
  return routes;
}

http::Response respond(const Routes& routes, const http::IncomingRequest& request) {
  const Judge* const judge = routes.find(request.path);
  const Convert* const convert = routes.find_convert(request.path);
  if (judge == nullptr && convert == nullptr) {
    return http::plain(404, fmt::format("there is no webhook at {}", request.path));
  }
  if (request.method != "POST") {
    return http::method_not_allowed("POST");
  }
  return json_response(convert != nullptr ? answer_conversion(request.body, *convert)
                                          : answer_review(request.body, *judge));
}

namespace {

struct Asked {
  Asked(http::IncomingRequest request_given, http::Reply reply_given)
      : request(std::move(request_given)), reply(std::move(reply_given)) {}

  http::IncomingRequest request;
  http::Reply reply;
};

Sort sort_of(const Routes& routes, const http::IncomingRequest& request) {
  if (request.body.size() > kLargeBody) {
    return Sort::kLarge;
  }
  return routes.find_convert(request.path) != nullptr ? Sort::kConversion : Sort::kObject;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(std::string listen, http::ServerTls tls, Routes routes) {
  http::ServerOptions options;
  options.listen = std::move(listen);
  options.tls = std::move(tls);
  options.limits.body_bytes = kLargestBody;
  options.max_connections = kMostConnections;
  options.rest = kRest;
  options.header_rest = kHeaderRest;
  options.large_body_bytes = kLargeBody;
  options.max_large_bodies = kMostLargeBodies;
  options.refusal = [](const http::IncomingRequest& request, int status, std::string_view what) {
    return status == 413 ? json_response(refuse_review(request.body, status, what)) : http::plain(status, what);
  };
  auto workers = std::make_unique<Workers>();
  http::Handler handler = [routes = std::make_shared<const Routes>(std::move(routes)), workers = workers.get()](
                              http::IncomingRequest request, http::Reply reply) {
    const Sort sort = sort_of(*routes, request);
    // A function that is kept is copied.
    auto asked = std::make_shared<Asked>(std::move(request), std::move(reply));
    workers->add(sort, [routes, asked] { asked->reply.send(respond(*routes, asked->request)); });
  };
  auto server = http::Server::start(std::move(options), std::move(handler));
  if (!server) {
    return tl::unexpected(server.error());
  }
  return std::unique_ptr<Server>(new Server(std::move(workers), std::move(*server)));
}

}  // namespace gantree::webhook
