#include "apiserver/person.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/allowed.h"
#include "apiserver/names.h"
#include "apiserver/request.h"
#include "apiserver/rights.h"
#include "apiserver/token_check.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kHeaders = "impersonate-";
constexpr std::string_view kExtra = "extra-";
constexpr std::string_view kAccounts = "system:serviceaccount:";
constexpr std::string_view kAnonymous = "system:anonymous";
constexpr std::string_view kKnown = "system:authenticated";
constexpr std::string_view kUnknown = "system:unauthenticated";
constexpr const char* kGroup = "authentication.k8s.io";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return result;
}

struct ServiceAccount {
  std::string ns;
  std::string name;
};

// The service account of that user name; any other name is that of a user.
std::optional<ServiceAccount> account_of(std::string_view user) {
  if (!user.starts_with(kAccounts)) {
    return std::nullopt;
  }
  const std::string_view rest = user.substr(kAccounts.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  ServiceAccount account{std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
  if (not_dns_label(account.ns) || not_dns_subdomain(account.name)) {
    return std::nullopt;
  }
  return account;
}

// All that has to be granted to who wants to pass for the person.
std::vector<Deed> deeds_for(const Person& person, const std::optional<ServiceAccount>& account) {
  static constexpr const char* kVerb = "impersonate";
  std::vector<Deed> deeds;
  if (account) {
    deeds.push_back({.verb = kVerb, .resource = "serviceaccounts", .ns = account->ns, .name = account->name});
  } else {
    deeds.push_back({.verb = kVerb, .resource = "users", .name = person.user});
  }
  for (const std::string& group : person.groups) {
    deeds.push_back({.verb = kVerb, .resource = "groups", .name = group});
  }
  for (const auto& [key, values] : person.extra) {
    for (const std::string& value : values) {
      deeds.push_back({.verb = kVerb, .group = kGroup, .resource = "userextras/" + key, .name = value});
    }
  }
  if (!person.uid.empty()) {
    deeds.push_back({.verb = kVerb, .group = kGroup, .resource = "uids", .name = person.uid});
  }
  return deeds;
}

// The groups that come with the name, and with being known at all.
void complete_groups(Person& person, bool is_account) {
  std::vector<std::string>& groups = person.groups;
  const auto has = [&](std::string_view group) {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  };
  if (is_account && groups.empty()) {
    groups = subject_of(person.user).groups;
  }
  if (person.user == kAnonymous) {
    if (!has(kUnknown)) {
      groups.emplace_back(kUnknown);
    }
  } else if (!has(kKnown) && !has(kUnknown)) {
    groups.emplace_back(kKnown);
  }
}

}  // namespace

Outcome<std::shared_ptr<const Person>> person_in(const http::HeaderList& headers) {
  Person person;
  bool more = false;
  for (const auto& [header, value] : headers) {
    const std::string name = lower(header);
    if (!name.starts_with(kHeaders)) {
      continue;
    }
    const std::string_view what = std::string_view(name).substr(kHeaders.size());
    if (what == "user") {
      person.user = person.user.empty() ? value : person.user;
    } else if (what == "uid") {
      person.uid = person.uid.empty() ? value : person.uid;
      more = more || !value.empty();
    } else if (what == "group") {
      person.groups.push_back(value);
      more = true;
    } else if (what.starts_with(kExtra)) {
      person.extra[percent_decoded(what.substr(kExtra.size()), false)].push_back(value);
      more = true;
    }
  }
  if (!person.user.empty()) {
    return std::make_shared<const Person>(std::move(person));
  }
  if (more) {
    return tl::unexpected(
        bad_request("a group, uid or extra of somebody to impersonate was given, but not the user: Impersonate-User"));
  }
  return nullptr;
}

Outcome<> take_on(Core& core, Call& call) {
  if (call.as == nullptr) {
    return {};
  }
  const auto account = account_of(call.as->user);
  for (const Deed& deed : deeds_for(*call.as, account)) {
    if (auto allowed = check_allowed(core, call, deed, subject_of(call.user)); !allowed) {
      return allowed;
    }
  }
  Person person = *call.as;
  complete_groups(person, account.has_value());
  call.user = person.user;
  call.trusted = false;
  call.as = std::make_shared<const Person>(std::move(person));
  return {};
}

Object user_info(const Call& call) {
  if (call.as == nullptr && call.token != nullptr) {
    return user_of_token(*call.token);
  }
  Object info{{"username", call.user}};
  if (call.as == nullptr) {
    info["groups"] = groups_of(call.user);
    return info;
  }
  const auto list = [](const std::vector<std::string>& texts) { return Array(texts.begin(), texts.end()); };
  if (!call.as->uid.empty()) {
    info["uid"] = call.as->uid;
  }
  info["groups"] = list(call.as->groups);
  for (const auto& [key, values] : call.as->extra) {
    object_in(info, "extra")[key] = list(values);
  }
  return info;
}

}  // namespace gantree::apiserver
