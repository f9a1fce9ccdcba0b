// Kinds that users define: CustomResourceDefinitions, from their objects to what is served. Api thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/kind.h"
#include "apiserver/schema.h"
#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;

// What one definition says, read once.
struct Definition {
  struct Version {
    std::string name;
    bool served = false;
    bool stored = false;
    const Schema* schema = nullptr;
    Array columns;  // additionalPrinterColumns
    Value openapi;  // the schema as written
  };
  std::string name;  // "jobs.example.com", which is also the table
  Object names;
  std::vector<Version> versions;
  bool by_webhook = false;  // spec.conversion.strategy
  Object client;            // spec.conversion.webhook.clientConfig
  std::vector<std::string> review_versions;
  SchemaSet schemas{SchemaSet::Dialect::kCustom};

  [[nodiscard]] const Version* find(std::string_view version) const;
};

class Definitions {
 public:
  explicit Definitions(Core& core) : core_(core) {}

  // After a start: all that is stored.
  void begin();
  void changed(std::string_view table, const Key& key, bool there);

 private:
  void serve(const std::string& name);
  void withdraw(const std::string& name);
  void empty_out_soon(const std::string& name);
  // `found` is a condition: without a definition, the one that tells why there is none.
  void set_status(const std::string& name, const Definition* definition, const Object& found);
  void empty_out(const std::string& name);

  Core& core_;
  std::map<std::string, std::string, std::less<>> served_;  // name to the spec it was made from
  std::set<std::string> emptying_;                          // soon
};

// From the object. Fails with one sentence where the schema is of no use.
[[nodiscard]] Result<std::shared_ptr<const Definition>> read_definition(const Object& object, const Schema& metadata);

}  // namespace gantree::apiserver
