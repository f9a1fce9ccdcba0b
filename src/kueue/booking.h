// What has been given away: quota, and room on hosts, which placeholder pods hold in the cluster: one for each assigned
// pod that has no node yet. Worked out anew from the admission and the pods whenever one of them changes.
//
// One thread owns it: the controller's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kueue/ledger.h"

namespace gantree::kueue {

class Booking {
 public:
  explicit Booking(Ledger& ledger) : ledger_(ledger) {}

  // Brings the bookings of a Workload up to date with what it has been given and what of it runs.
  void book(Entry& entry);
  void unbook(Entry& entry);
  void book_all();
  void unbook_all();
  // Those that are out of date.
  void book_changed();
  // It is deleted: nothing is held for it, and what its pods use counts until they are gone.
  void depart(Entry& entry);

  // What an admission takes. `given_back`: pods by pod set that are over.
  [[nodiscard]] QuotaDemand quota_of(const Admission& admission, const std::map<std::string, int>& given_back) const;
  // Where the pods of a pod set were planned to go, host by host. Of domains of several hosts nobody knows that after a
  // restart: then there are none.
  [[nodiscard]] std::vector<HostCount> hosts_of(const Entry& entry, const SetAssignment& set) const;
  // Hosts of domains of several hosts that its pods cannot use any more, where there is no room left for all of them:
  // the Workload cannot stay. Nothing where it can. None of them is known after a restart.
  [[nodiscard]] std::optional<std::set<std::string>> lost_hosts(const Entry& entry) const;
  // Whether there is no room for all its pods in the domains of several hosts to which they were sent.
  [[nodiscard]] bool is_short_of_room(const Entry& entry) const { return short_of_room_.contains(entry.key()); }
  // Placeholders of a pod set by node.
  [[nodiscard]] std::map<std::string, int> held_by_node(const Entry& entry, const SetAssignment& set) const;
  // The same, and its pods that are there or on their way. Those that are over hold nothing.
  [[nodiscard]] std::map<std::string, int> taken_by_node(const Entry& entry, const SetAssignment& set) const;
  // Holds room on a node. `taken`: whether the cluster counts it already, and has only to learn its name.
  void hold(Entry& entry, const std::string& set, const std::string& node, const Amounts& requests, bool taken);

  // The placeholder that is for a pod without a node: on a host of the domain to which it was sent, which takes pods
  // and has room for it. nullptr where there is none.
  [[nodiscard]] const std::string* held_for(const Entry& entry, const SetAssignment& set, const StartedPod& pod) const;
  // From now on somebody else's.
  void let_go(Entry& entry, const std::string& placeholder);

 private:
  [[nodiscard]] bool is_free(const std::string& node, const Amounts& requests) const;
  [[nodiscard]] std::int64_t amount_held(const Entry& entry, const std::string& placeholder, ResourceId resource) const;
  // How the names of the placeholders of a pod set begin.
  [[nodiscard]] static std::string prefix_of(const Entry& entry, const std::string& set);
  void note_freed(const QuotaDemand& before, const QuotaDemand& after);
  void give_back(Entry& entry);
  void drop_placeholders(Entry& entry, const std::function<bool(const std::string& key)>& these);
  void forget_departed(const std::string& workload);
  void book_in_turn(std::vector<Entry*>& entries);
  // Pods that were sent to hosts.
  void book_hosts(Entry& entry, const SetAssignment& set);
  // Where pods may come, by node: some are on their way, or those that are over have successors.
  struct Likely {
    std::map<std::string, int> coming;
    std::map<std::string_view, int> over;
  };
  [[nodiscard]] std::map<std::string, int> room_by_node(const Entry& entry, const SetAssignment& set,
                                                        const std::vector<HostCount>& hosts) const;
  void give_back_spare(const Entry& entry, const SetAssignment& set, std::vector<int> unclaimed,
                       std::map<std::string_view, int>& over, std::vector<HostCount>& held) const;
  void keep_what_is_left(const Entry& entry, const SetAssignment& set, std::vector<HostCount>& held) const;
  void drop_unwanted(const Entry& entry, const SetAssignment& set, Likely likely, int most,
                     std::vector<HostCount>& held) const;
  // Pods that were sent to domains of several hosts.
  using Domains = std::map<std::vector<std::string>, int>;  // pods by domain
  void book_domains(Entry& entry, const SetAssignment& set);
  std::vector<std::string> lend_blockers(const Entry& entry);
  // The hosts of a domain that take pods.
  [[nodiscard]] std::vector<NodeId> hosts_in(const Entry& entry, const SetAssignment& set,
                                             const std::vector<std::string>& domain) const;
  // Those that have no node yet.
  [[nodiscard]] Domains pods_to_come(const Entry& entry, const SetAssignment& set) const;
  void hold_among(Entry& entry, const SetAssignment& set, const std::vector<NodeId>& hosts, int count);
  void hold_in_pieces(Entry& entry, const SetAssignment& set, const std::vector<NodeId>& hosts);
  void plan_as_it_is(Entry& entry, const SetAssignment& set) const;
  // Whether Workloads were promised more in such domains of its than the hosts there have, whoever else uses them: some
  // of those are gone, or take no pods any more.
  [[nodiscard]] bool is_overpromised(const Entry& entry) const;
  void unbook_crowded();

  Ledger& ledger_;
  std::set<std::string> short_of_room_;  // workloads
};

}  // namespace gantree::kueue
