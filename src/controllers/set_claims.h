// The claims of a StatefulSet's pods: made before the pods, kept or given up with them as the set's policy says.
#pragma once

#include <string>

#include "controllers/turn.h"

namespace gantree::controllers {

// A volume for each claim of the set.
void mount_claims(Object& pod_spec, const Object& set_root, std::string_view pod);
// Makes those that are missing.
void make_claims(const Item& set, const Object& set_root, const std::string& pod, Turn& turn);
// Whose end will be theirs: the set's, where its policy for deletion says so; the pod's, where it goes because the set
// became smaller and the policy for that says so.
void hand_over_claims(const Item& set, const Object& set_root, const Item& pod, bool goes, Turn& turn);

}  // namespace gantree::controllers
