#include <fmt/format.h>

#include "apiserver/admission.h"
#include "apiserver/allowed.h"
#include "apiserver/apply.h"
#include "apiserver/convert.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/writing.h"

namespace gantree::apiserver {

namespace {

constexpr int kNameTries = 8;

Outcome<> prepare(Core& core, Request& request, Account account, Object& object) {
  const Kind& kind = *request.kind;
  const std::string name(text_at(object, {"metadata", "name"}));
  if (kind.namespaced) {
    if (auto there = core.namespaces.check_creation(kind, request.ns, name); !there) {
      return there;
    }
  }
  if (auto tidied = tidy(request, kind, object); !tidied) {
    return tidied;
  }
  if (auto prepared = prepare_new(kind, request.ns, core.now(), core.random, object); !prepared) {
    return prepared;
  }
  complete_new(kind, object);
  if (account == Account::kToKeep) {
    keep_account(core, request, nullptr, object);
  }
  return prepare_kind(core, kind, object);
}

// Another name where one was made up that is taken.
void rename_if_taken(Core& core, const Request& request, bool generated, Object& object) {
  Object& metadata = object_in(object, "metadata");
  const std::string prefix(text_at(metadata, {"generateName"}));
  for (int tries = 0; generated && tries < kNameTries; ++tries) {
    const Key key{request.kind->namespaced ? request.ns : "", std::string(text_at(metadata, {"name"}))};
    if (core.store.find(request.kind->table, key) == nullptr) {
      return;
    }
    metadata["name"] = prefix.substr(0, 58) + core.random.suffix();
  }
}

// What a new object is given after those who may change it were asked.
using Identity = std::vector<std::pair<std::string_view, Value>>;

Identity take_identity(Object& object) {
  Identity identity;
  Object& metadata = object_in(object, "metadata");
  for (const std::string_view name : {"uid", "creationTimestamp"}) {
    if (const auto it = metadata.find(name); it != metadata.end()) {
      identity.emplace_back(name, it->value());
      metadata.stable_erase(it);
    }
  }
  return identity;
}

// Whoever changes a new object may not bring it elsewhere.
Outcome<> check_namespace(const Kind& kind, const std::string& ns, Object& object) {
  const std::string wanted = kind.namespaced ? ns : std::string();
  Object& metadata = object_in(object, "metadata");
  const std::string_view given = text_at(metadata, {"namespace"});
  if (given.empty() && !wanted.empty()) {
    metadata["namespace"] = wanted;
  } else if (given != wanted) {
    return tl::unexpected(
        bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  }
  return {};
}

void give_identity(const Identity& identity, Object& object) {
  for (const auto& [name, value] : identity) {
    object_in(object, "metadata")[name] = value;
  }
}

}  // namespace

Task<Answer> create_object(Core& core, RequestPtr request) {
  if (const auto sound = check_options(*request); !sound) {
    co_return refuse(sound.error());
  }
  auto object = decode_object(*request, *request->kind);
  if (!object) {
    co_return refuse(object.error());
  }
  Answer answer = co_await create_from(core, request, std::move(*object), Account::kToKeep);
  co_return answer;
}

Task<Answer> create_from(Core& core, RequestPtr request, Object object, Account account) {
  const KindPtr kind = request->kind;
  const bool generated = text_at(object, {"metadata", "name"}).empty();
  if (const auto prepared = prepare(core, *request, account, object); !prepared) {
    co_return refuse(prepared.error());
  }
  rename_if_taken(core, *request, generated, object);
  if (concerns_webhooks(core, *request, Operation::kCreate)) {
    auto admission = std::make_shared<Admission>();
    admission->object = &object;
    admission->name = generated ? "" : text_at(object, {"metadata", "name"});
    admission->dry_run = request->dry_run();
    const Identity identity = take_identity(object);
    const auto mutated = co_await admit_mutating(core, request, admission);
    if (!mutated) {
      co_return refuse(mutated.error());
    }
    give_identity(identity, object);
    if (const auto stays = check_namespace(*kind, request->ns, object); !stays) {
      co_return refuse(stays.error());
    }
    complete(*kind, object);
    const auto sound = check_object(*kind, nullptr, object, "");
    if (!sound) {
      co_return refuse(sound.error());
    }
    const auto validated = co_await admit_validating(core, request, admission);
    if (!validated) {
      co_return refuse(validated.error());
    }
    rename_if_taken(core, *request, generated, object);
  } else if (const auto sound = check_object(*kind, nullptr, object, ""); !sound) {
    co_return refuse(sound.error());
  }
  if (const auto may_give = check_gift(core, *request, nullptr, object); !may_give) {
    co_return refuse(may_give.error());
  }
  Written written;
  written.request = request;
  written.object = std::move(object);
  Answer answer = co_await store_new(core, std::move(written));
  co_return answer;
}

}  // namespace gantree::apiserver
