// Manifests into a cluster, by server-side apply, and out of it again.
//
// Blocks on the calling thread, which must not be the transport's.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "install/manifest.h"
#include "kube/client.h"

namespace gantree {

// Told of each object as it is done.
using Progress = std::function<void(const ManifestObject& object, const std::string& what)>;

// In the order given; definitions are waited for until they are served. Those that somebody else brought stay as they
// are, since another scheduler may rely on them, and so does what is lasting and there. Stops at the first that fails.
// Doing it again changes nothing that is as it should be.
[[nodiscard]] Result<> apply(kube::Client& client, std::span<const ManifestObject> objects,
                             std::chrono::seconds patience, const Progress& progress);

// In the opposite order, without the definitions, the namespace and what is lasting: those hold what is the users'.
// What is not there is passed over.
[[nodiscard]] Result<> remove(kube::Client& client, std::span<const ManifestObject> objects, const Progress& progress);

// Where the API serves a kind of the manifest.
[[nodiscard]] kube::Resource resource_of(const ManifestObject& object);

}  // namespace gantree
