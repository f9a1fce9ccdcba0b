// ResourceQuotas: what of each is used, told in its status, and what would be too much. Only namespaces that have one
// are counted, from the moment when they have. Api thread only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/quota_use.h"
#include "apiserver/status.h"
#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;
struct Kind;

class Quotas {
 public:
  explicit Quotas(Core& core) : core_(core) {}

  // Counts what was there at the start.
  void begin();
  void changed(std::string_view table, const Key& key);
  // 403 where the object, new or in the place of the one of its name, would be beyond a quota.
  [[nodiscard]] Outcome<> check(const Kind& kind, const Key& key, const Object& object) const;

 private:
  struct Quota {
    Object spec;
    QuotaAmounts hard;
    QuotaAmounts used;  // of all that is in `hard`
  };
  struct Space {
    std::map<std::string, Quota, std::less<>> quotas;
    std::map<Store::Place, QuotaUse> uses;
  };

  [[nodiscard]] const Quota* find_quota(const Key& key) const;
  void count_anew(const std::string& ns);
  void count(Space& space, Store::Place place);
  static void book(Quota& quota, const QuotaUse& use, int sign);
  // Of what is there.
  [[nodiscard]] QuotaUse use_of(const Store::Place& place) const;
  void tell_soon(const std::string& ns);
  void tell();

  Core& core_;
  std::map<std::string, Space, std::less<>> spaces_;
  std::set<std::string> untold_;
};

}  // namespace gantree::apiserver
