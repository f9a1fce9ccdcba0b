// What has been given away: quota, and room on hosts, which placeholder pods hold in the cluster: one for each assigned
// pod that has no node yet. Worked out anew from the admission and the pods whenever one of them changes.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>
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

  // What an admission takes. `given_back`: pods by pod set that are over.
  [[nodiscard]] QuotaDemand quota_of(const Admission& admission, const std::map<std::string, int>& given_back) const;
  // Where the pods of a pod set go, host by host.
  [[nodiscard]] std::vector<HostCount> hosts_of(const Entry& entry, const SetAssignment& set) const;
  // Placeholders of a pod set by node.
  [[nodiscard]] std::map<std::string, int> held_by_node(const Entry& entry, const SetAssignment& set) const;
  // Holds room on a node. `taken`: whether the cluster counts it already, and has only to learn its name.
  void hold(Entry& entry, const std::string& set, const std::string& node, const Amounts& requests, bool taken);

 private:
  [[nodiscard]] int pods_wanted(const Entry& entry, const SetAssignment& set) const;
  void book_set(Entry& entry, const SetAssignment& set, int given_back);

  Ledger& ledger_;
};

}  // namespace gantree::kueue
