// Load for an API server, and what came of it: the same client for whoever serves.
//
//   api_load KUBECONFIG create configmaps|pods NS COUNT IN_FLIGHT
//   api_load KUBECONFIG patch configmaps|pods NS COUNT IN_FLIGHT    those that create has made; pods by their status
//   api_load KUBECONFIG bind pods NS COUNT IN_FLIGHT
//   api_load KUBECONFIG remove configmaps|pods NS COUNT IN_FLIGHT
//   api_load KUBECONFIG fanout configmaps NS COUNT IN_FLIGHT WATCHERS   so many watchers see so many creations
//
// Prints one line of JSON.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/client.h"
#include "load_client.h"

namespace {

using namespace gantree;        // NOLINT: a small program
using namespace gantree::load;  // NOLINT
using Clock = std::chrono::steady_clock;

constexpr double kPatience = 300;

struct Order {
  kube::Resource resource;
  std::string ns;
  std::size_t count = 0;
  int in_flight = 1;
};

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

void report(std::string_view what, std::size_t count, double seconds) {
  fmt::print("{{\"what\":\"{}\",\"count\":{},\"seconds\":{:.3f},\"per_second\":{:.1f}}}\n", what, count, seconds,
             static_cast<double>(count) / seconds);
}

std::string name_of(std::size_t number) {
  return fmt::format("o{:07}", number);
}

std::string object(const Order& order, std::size_t number) {
  const std::string head = fmt::format(
      R"({{"apiVersion":"v1","kind":"{}","metadata":{{"name":"{}","labels":{{"app":"load","part":"p{}"}}}},)",
      order.resource.kind, name_of(number), number % 10);
  return order.resource.kind == "Pod"
             ? head + R"("spec":{"schedulerName":"nobody","containers":[{"name":"main","image":"registry/image:1",)"
                      R"("command":["run","--forever"],"resources":{"requests":{"cpu":"4","memory":"16Gi"},)"
                      R"("limits":{"nvidia.com/gpu":"1"}}}]}})"
             : head + fmt::format(R"("data":{{"number":"{}","text":"{}"}}}})", number, std::string(200, 'x'));
}

// One request for each object, as many at a time as the client lets through.
double each(const Order& order, const std::function<void(std::size_t, kube::Client::Done)>& request) {
  Tally tally;
  const auto began = Clock::now();
  for (std::size_t i = 0; i < order.count; ++i) {
    request(i, tally.one());
  }
  tally.wait();
  return since(began);
}

double create_all(kube::Client& client, const Order& order) {
  return each(order, [&](std::size_t i, kube::Client::Done done) {
    client.create(order.resource, order.ns, object(order, i), std::move(done));
  });
}

double patch_all(kube::Client& client, const Order& order) {
  const bool pods = order.resource.kind == "Pod";
  return each(order, [&](std::size_t i, kube::Client::Done done) {
    const kube::ObjectKey key{order.ns, name_of(i)};
    if (pods) {
      client.patch_status(
          order.resource, key, kube::PatchType::kStrategicMerge,
          R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","reason":"Started"}]}})",
          std::move(done));
    } else {
      client.patch(order.resource, key, kube::PatchType::kMerge, fmt::format(R"({{"data":{{"number":"x{}"}}}})", i),
                   std::move(done));
    }
  });
}

double bind_all(kube::Client& client, const Order& order) {
  const std::vector<PodName> pods = list_pods(client, order.ns);
  if (pods.size() < order.count) {
    die("there are not so many pods");
  }
  return each(order, [&](std::size_t i, kube::Client::Done done) {
    client.bind({order.ns, pods[i].name}, pods[i].uid, fmt::format("n{}", i / 8), "", std::move(done));
  });
}

double remove_all(kube::Client& client, const Order& order) {
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  return each(order, [&](std::size_t i, kube::Client::Done done) {
    client.remove(order.resource, {order.ns, name_of(i)}, options, std::move(done));
  });
}

void wait_for(const std::function<bool()>& condition, const char* what) {
  const auto began = Clock::now();
  while (!condition()) {
    if (since(began) > kPatience) {
      die(fmt::format("waited in vain for {}", what));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// Watchers that count lines and look at nothing, and somebody who creates.
void fan_out(LoadClient& connection, const Order& order, std::size_t watchers) {
  std::atomic<std::size_t> begun = 0;
  std::atomic<std::size_t> seen = 0;
  std::atomic<std::size_t> bytes = 0;
  for (std::size_t i = 0; i < watchers; ++i) {
    http::Request request;
    request.target = order.resource.path(order.ns) + "?watch=true&resourceVersion=0";
    http::StreamHandlers handlers;
    handlers.on_headers = [&](int status, const http::Headers&) {
      if (status != 200) {
        die(fmt::format("a watch was answered with {}", status));
      }
      ++begun;
    };
    handlers.on_bytes = [&](std::string_view part) {
      bytes += part.size();
      seen += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    };
    handlers.on_end = [](const http::Outcome& outcome) { die(fmt::format("a watch ended: {}", outcome.error)); };
    (void)connection.watching().stream(std::move(request), std::move(handlers));
  }
  wait_for([&] { return begun == watchers; }, "all watches");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // what is there already
  const std::size_t before = seen;
  bytes = 0;
  const auto began = Clock::now();
  const double written = create_all(*connection, order);
  wait_for([&] { return seen - before >= watchers * order.count; }, "all events");
  const double seconds = since(began);
  fmt::print(
      "{{\"what\":\"fanout\",\"watchers\":{},\"count\":{},\"seconds\":{:.3f},\"events_per_second\":{:.1f},"
      "\"megabytes_per_second\":{:.1f},\"writes_per_second\":{:.1f}}}\n",
      watchers, order.count, seconds, static_cast<double>(watchers * order.count) / seconds,
      static_cast<double>(bytes) / 1e6 / seconds, static_cast<double>(order.count) / written);
  std::fflush(stdout);
  std::_Exit(0);  // the watches would be taken for broken
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 6 || (words[2] != "configmaps" && words[2] != "pods")) {
    die("say KUBECONFIG create|patch|bind|remove|fanout configmaps|pods NS COUNT IN_FLIGHT");
  }
  Order order;
  order.resource = words[2] == "pods" ? kube::pods() : kube::Resource{"", "v1", "configmaps", "ConfigMap", true};
  order.ns = words[3];
  order.count = static_cast<std::size_t>(std::atoll(words[4].c_str()));
  order.in_flight = std::atoi(words[5].c_str());
  LoadClient connection(words[0], order.in_flight);
  if (words[1] == "fanout" && words.size() == 7) {
    fan_out(connection, order, static_cast<std::size_t>(std::atoll(words[6].c_str())));
  }
  double (*run)(kube::Client&, const Order&) = words[1] == "create"   ? create_all
                                               : words[1] == "patch"  ? patch_all
                                               : words[1] == "bind"   ? bind_all
                                               : words[1] == "remove" ? remove_all
                                                                      : nullptr;
  if (run == nullptr) {
    die("that is none of its commands");
  }
  report(fmt::format("{} {}", words[1], words[2]), order.count, run(*connection, order));
  return 0;
}
