#include "kube/random.h"

#include <random>

namespace gantree::kube {

Random make_random() {
  return [engine = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

}  // namespace gantree::kube
