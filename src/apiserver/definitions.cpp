#include "apiserver/definitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";
constexpr std::string_view kVerbs = "delete,deletecollection,get,list,patch,create,update,watch";

bool flag_at(const Value& value, std::string_view key) {
  const Value* flag = find(value, {key});
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

std::vector<std::string> texts(const Array* array) {
  std::vector<std::string> result;
  if (array != nullptr) {
    for (const Value& value : *array) {
      result.emplace_back(text_of(value));
    }
  }
  return result;
}

// v2 before v1 before v1beta2 before v1alpha1; what is no such name comes last.
struct VersionRank {
  int kind = 0;  // 3 stable, 2 beta, 1 alpha
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const VersionRank&, const VersionRank&) = default;
};
VersionRank rank_of(std::string_view text) {
  VersionRank rank;
  std::size_t at = 1;
  const auto number = [&] {
    int value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 100'000; ++at) {
      value = value * 10 + (text[at] - '0');
    }
    return value;
  };
  if (!text.starts_with('v')) {
    return rank;
  }
  rank.major = number();
  const std::string_view rest = text.substr(at);
  rank.kind = rest.empty() ? 3 : rest.starts_with("beta") ? 2 : rest.starts_with("alpha") ? 1 : 0;
  at += rank.kind == 2 ? 4 : rank.kind == 1 ? 5 : 0;
  rank.minor = number();
  return rank;
}

KindPtr kind_of(const Object& object, const Value& version, const std::shared_ptr<const Definition>& definition) {
  auto kind = std::make_shared<Kind>();
  const Object& names = definition->names;
  kind->group = text_at(object, {"spec", "group"});
  kind->version = text_at(version, {"name"});
  kind->resource = text_at(names, {"plural"});
  kind->singular = text_at(names, {"singular"});
  kind->kind = text_at(names, {"kind"});
  kind->list_kind = text_at(names, {"listKind"});
  kind->namespaced = text_at(object, {"spec", "scope"}) != "Cluster";
  kind->short_names = texts(array_at(names, {"shortNames"}));
  kind->categories = texts(array_at(names, {"categories"}));
  kind->verbs = kVerbs;
  if (flag_at(version, "deprecated")) {
    const std::string_view given = text_at(version, {"deprecationWarning"});
    kind->deprecation =
        given.empty() ? fmt::format("{} {} is deprecated", kind->api_version(), kind->kind) : std::string(given);
  }
  kind->generation = true;
  kind->table = definition->name;
  kind->definition = definition;
  kind->schema = definition->find(kind->version)->schema;
  if (find(version, {"subresources", "status"}) != nullptr) {
    kind->subresources.emplace_back("status");
  }
  if (const Array* fields = array_at(version, {"selectableFields"})) {
    for (const Value& field : *fields) {
      const std::string_view path = text_at(field, {"jsonPath"});
      kind->selectable.emplace_back(path.starts_with('.') ? path.substr(1) : path);
    }
  }
  if (const Object* scale = object_at(version, {"subresources", "scale"})) {
    kind->subresources.emplace_back("scale");
    kind->scale = ScalePaths{std::string(text_at(*scale, {"specReplicasPath"})),
                             std::string(text_at(*scale, {"statusReplicasPath"})),
                             std::string(text_at(*scale, {"labelSelectorPath"}))};
  }
  return kind;
}

Object full_names(const Object& object) {
  const Object* given = object_at(object, {"spec", "names"});
  Object names = given == nullptr ? Object() : *given;
  const std::string kind(text_at(names, {"kind"}));
  if (text_at(names, {"singular"}).empty()) {
    std::string lower = kind;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    names["singular"] = lower;
  }
  if (text_at(names, {"listKind"}).empty()) {
    names["listKind"] = kind + "List";
  }
  return names;
}

Object condition(std::string_view type, bool holds, std::string_view reason, std::string_view message,
                 std::string_view now) {
  Object result;
  result["type"] = type;
  result["status"] = holds ? "True" : "False";
  result["lastTransitionTime"] = now;
  result["reason"] = reason;
  result["message"] = message;
  return result;
}

// Sets it, keeping the time where nothing changes.
void set_condition(Array& conditions, Object wanted) {
  for (Value& value : conditions) {
    if (text_at(value, {"type"}) == text_at(wanted, {"type"})) {
      if (text_at(value, {"status"}) == text_at(wanted, {"status"})) {
        wanted["lastTransitionTime"] = text_at(value, {"lastTransitionTime"});
      }
      value = std::move(wanted);
      return;
    }
  }
  conditions.push_back(std::move(wanted));
}

}  // namespace

const Definition::Version* Definition::find(std::string_view version) const {
  const auto it = std::find_if(versions.begin(), versions.end(), [&](const Version& v) { return v.name == version; });
  return it == versions.end() ? nullptr : &*it;
}

Result<std::shared_ptr<const Definition>> read_definition(const Object& object, const Schema& metadata) {
  auto definition = std::make_shared<Definition>();
  definition->name = text_at(object, {"metadata", "name"});
  definition->names = full_names(object);
  definition->by_webhook = text_at(object, {"spec", "conversion", "strategy"}) == "Webhook";
  if (const Object* webhook = object_at(object, {"spec", "conversion", "webhook"})) {
    if (const Object* client = object_at(*webhook, {"clientConfig"})) {
      definition->client = *client;
    }
    definition->review_versions = texts(array_at(*webhook, {"conversionReviewVersions"}));
  }
  const Array* versions = array_at(object, {"spec", "versions"});
  if (versions == nullptr || versions->empty()) {
    return invalid(fmt::format("CustomResourceDefinition \"{}\" has no versions", definition->name));
  }
  for (const Value& value : *versions) {
    Definition::Version version;
    version.name = text_at(value, {"name"});
    version.served = flag_at(value, "served");
    version.stored = flag_at(value, "storage");
    if (const Array* columns = array_at(value, {"additionalPrinterColumns"})) {
      version.columns = *columns;
    }
    if (const Value* openapi = apiserver::find(value, {"schema", "openAPIV3Schema"})) {
      version.openapi = *openapi;
      auto schema = define_custom(definition->schemas, *openapi, &metadata, version.name);
      if (!schema) {
        return invalid(fmt::format("CustomResourceDefinition \"{}\", version {}: {}", definition->name, version.name,
                                   schema.error().message));
      }
      version.schema = *schema;
    }
    definition->versions.push_back(std::move(version));
  }
  return std::shared_ptr<const Definition>(std::move(definition));
}

void Definitions::begin() {
  if (const Table* table = core_.store.find_table(kDefinitions)) {
    // Those first that have their names already: others may be waiting for the same.
    std::vector<std::string> names;
    std::vector<std::string> waiting;
    for (const auto& [key, entry] : table->entries) {
      const auto object = core_.read(kDefinitions, key);
      const bool accepted = object && !text_at(*object, {"status", "acceptedNames", "kind"}).empty();
      (accepted ? names : waiting).push_back(key.name);
    }
    names.insert(names.end(), waiting.begin(), waiting.end());
    for (const std::string& name : names) {
      serve(name);
    }
  }
}

void Definitions::changed(std::string_view table, const Key& key, bool there) {
  if (table == kDefinitions) {
    if (there) {
      core_.soon([this, name = key.name] { serve(name); });
    } else {
      withdraw(key.name);
    }
  } else if (!there && served_.contains(table)) {
    // The last object of a definition that is being deleted may have gone.
    const Entry* entry = core_.store.find(kDefinitions, {"", std::string(table)});
    if (entry != nullptr && entry->facts->deleting) {
      empty_out_soon(std::string(table));
    }
  }
}

namespace {

struct Taken {
  std::string_view reason;
  std::string name;
};

// A name that another kind of the group has already. Of several the one that is told is the one that matters most.
std::optional<Taken> taken_name(const Registry& registry, const Object& definition) {
  const Object names = full_names(definition);
  std::vector<Taken> wanted{{"ListKindConflict", std::string(text_at(names, {"listKind"}))},
                            {"KindConflict", std::string(text_at(names, {"kind"}))}};
  for (std::string& name : texts(array_at(names, {"shortNames"}))) {
    wanted.push_back({"ShortNamesConflict", std::move(name)});
  }
  wanted.push_back({"SingularConflict", std::string(text_at(names, {"singular"}))});
  wanted.push_back({"PluralConflict", std::string(text_at(names, {"plural"}))});
  for (Taken& name : wanted) {
    const bool of_kinds = name.reason.ends_with("KindConflict");
    for (const KindPtr& kind : registry.all()) {
      if (kind->group != text_at(definition, {"spec", "group"}) ||
          kind->table == text_at(definition, {"metadata", "name"})) {
        continue;
      }
      std::vector<std::string> theirs = kind->short_names;
      theirs.insert(theirs.end(), {kind->resource, kind->singular});
      if (of_kinds) {
        theirs = {kind->kind, kind->list_kind};
      }
      if (std::find(theirs.begin(), theirs.end(), name.name) != theirs.end()) {
        return std::move(name);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void Definitions::serve(const std::string& name) {
  auto object = core_.read(kDefinitions, {"", name});
  if (!object) {
    return;
  }
  if (is_deleting(*object)) {
    empty_out(name);
    return;
  }
  const Value* spec = find(*object, {"spec"});
  std::string text = spec == nullptr ? std::string() : to_json(*spec);
  if (const auto it = served_.find(name); it != served_.end() && it->second == text) {
    return;
  }
  if (const auto taken = taken_name(core_.registry, *object); taken && !served_.contains(name)) {
    set_status(name, nullptr,
               condition("NamesAccepted", false, taken->reason,
                         fmt::format("\"{}\" is the name of another kind of the group", taken->name), core_.now()));
    return;
  }
  const auto definition = read_definition(*object, core_.schemas->object_meta());
  if (!definition) {
    set_status(name, nullptr,
               condition("NonStructuralSchema", true, "Violations", definition.error().message, core_.now()));
    return;
  }
  std::vector<KindPtr> kinds;
  KindPtr stored;
  for (const Value& version : *array_at(*object, {"spec", "versions"})) {
    KindPtr kind = kind_of(*object, version, *definition);
    if (flag_at(version, "storage")) {
      stored = kind;
    }
    if (flag_at(version, "served")) {
      kinds.push_back(std::move(kind));
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const KindPtr& a, const KindPtr& b) { return rank_of(a->version) > rank_of(b->version); });
  core_.store.select_by(name, stored == nullptr ? std::vector<std::string>() : stored->selectable);
  core_.registry.replace(name, std::move(kinds), std::move(stored));
  core_.garbage.kinds_changed();
  served_[name] = std::move(text);
  set_status(name, definition->get(),
             condition("NamesAccepted", true, "NoConflicts", "no conflicts found", core_.now()));
}

void Definitions::withdraw(const std::string& name) {
  if (const auto it = served_.find(name); it != served_.end()) {
    served_.erase(it);
    core_.registry.replace(name, {}, nullptr);
    // Its names are free for one that waits for them.
    core_.soon([this] { begin(); });
  }
}

void Definitions::set_status(const std::string& name, const Definition* definition, const Object& found) {
  core_.edit(kDefinitions, {"", name}, [&](Object& object) {
    const Object before = object;
    add_finalizer(object, kCleanup);
    Object& status = object_in(object, "status");
    Array conditions = array_at(status, {"conditions"}) == nullptr ? Array() : *array_at(status, {"conditions"});
    const bool fine = definition != nullptr;
    set_condition(conditions, found);
    set_condition(conditions,
                  condition("Established", fine, fine ? "InitialNamesAccepted" : "NotAccepted",
                            fine ? "the initial names have been accepted" : text_at(found, {"message"}), core_.now()));
    status["conditions"] = std::move(conditions);
    if (fine) {
      status["acceptedNames"] = definition->names;
      Array stored = array_at(status, {"storedVersions"}) == nullptr ? Array() : *array_at(status, {"storedVersions"});
      for (const Definition::Version& version : definition->versions) {
        const bool listed = std::any_of(stored.begin(), stored.end(),
                                        [&](const Value& value) { return text_of(value) == version.name; });
        if (version.stored && !listed) {
          stored.push_back(Value(version.name));
        }
      }
      status["storedVersions"] = std::move(stored);
      object_in(object, "spec")["names"] = definition->names;
    }
    return !same(before, object);
  });
}

// For many that go at once a single look will do.
void Definitions::empty_out_soon(const std::string& name) {
  if (emptying_.insert(name).second) {
    core_.soon([this, name] {
      emptying_.erase(name);
      empty_out(name);
    });
  }
}

// A definition goes when the last of its objects is gone.
void Definitions::empty_out(const std::string& name) {
  const Table* table = core_.store.find_table(name);
  const KindPtr kind = core_.registry.stored_kind(name);
  if (table == nullptr || kind == nullptr || table->entries.empty()) {
    core_.edit(kDefinitions, {"", name}, [](Object& object) {
      if (!has_finalizer(object, kCleanup)) {
        return false;
      }
      remove_finalizer(object, kCleanup);
      return true;
    });
    return;
  }
  for (const auto& [key, entry] : table->entries) {
    if (!entry.facts->deleting) {
      Call call;
      call.path = path_of(*kind, key);
      call.user = "system:apiserver";
      core_.removals.ask({name, key}, std::move(call), [this, name] { empty_out_soon(name); });
    }
  }
}

}  // namespace gantree::apiserver
