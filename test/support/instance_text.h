// Instances as text: what a failed test prints, and what a test reads back.
//
//   levels block rack kubernetes.io/hostname
//   node n1 block=b1 rack=r1 | has nvidia.com/gpu=4 pods=110 | pod nvidia.com/gpu=1 pods=1
//   node n2 block=b1 rack=r2 | has pods=9 | taint key value NoSchedule | cordoned | unready
//   gang g1 kind | required 0 | pack
//     set main 4 min 2 | asks nvidia.com/gpu=1 pods=1 | selects zone=a | slice 1 2 | pack
//     set side 1 | asks cpu=500 pods=1 | tolerates key value NoSchedule | affinity zone In a,b & gen Gt 3
//     group inner | preferred 1 | pack | pods 3 | groups 1
//     end
//   end
//
// The hostname label is not written where it is the node's name; a node without
// one says `nohostname`. In `tolerates`, `*` stands for any. A gang of no kind
// has the kind `-`. `affinity never` is a list of no terms. Lines that begin
// with # are comments. `pods` and `groups` of a group are its minima.
#pragma once

#include <string>

#include "support/instance.h"

namespace gantree::test {

[[nodiscard]] std::string to_text(const Instance& instance);

// Throws std::invalid_argument with the line at fault.
[[nodiscard]] Instance parse_instance(const std::string& text);

}  // namespace gantree::test
