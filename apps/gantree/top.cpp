// gantree top: domains, gangs and queues, as they are, until told to stop.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster_access.h"
#include "cluster_objects.h"
#include "commands.h"
#include "connection.h"
#include "live_objects.h"
#include "output.h"
#include "queues.h"
#include "screen.h"
#include "terminal.h"
#include "view/present_text.h"
#include "view/queue_rows.h"
#include "view/words.h"
#include "world.h"

namespace gantree {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTopPatience{30};
constexpr std::chrono::milliseconds kTick{200};
// A picture costs this part of the time at most.
constexpr int kShare = 5;

struct TopOptions {
  Sources sources;
  std::chrono::milliseconds interval{1000};
  bool once = false;
  std::shared_ptr<std::string> color;
};

std::vector<ApiKind> kinds_to_show() {
  std::vector<ApiKind> kinds = all_kinds();
  for (const ApiKind& kind : queue_kinds()) {
    const auto same = [&](const ApiKind& other) { return other.group == kind.group && other.kind == kind.kind; };
    if (std::none_of(kinds.begin(), kinds.end(), same)) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

// By it one sees that the view is alive.
std::string clock_time() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string heading(const std::string& what, const Cluster& cluster, const view::Present& present) {
  std::int64_t hosts = 0;
  std::int64_t off = 0;
  const Inventory& inventory = cluster.inventory();
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    const auto id = make_id<NodeTag>(n);
    if (inventory.alive(id)) {
      ++hosts;
      off += inventory.node(id).ready && !inventory.node(id).unschedulable ? 0 : 1;
    }
  }
  return fmt::format("{}   {}{}   gangs: {}\n\n", what, view::counted(hosts, "host"),
                     off == 0 ? "" : fmt::format(" ({} off)", off), view::summary(present));
}

std::string queue_table(const std::vector<json::Document>& documents, const view::TextOptions& text) {
  Queues queues;
  if (!take_queues(documents, queues)) {
    return {};
  }
  static_cast<void>(queues.controller.look());
  const auto rows = view::cluster_queue_rows(queues.controller);
  return rows.empty() ? std::string() : "\n" + view::queues_to_text(rows, false, text);
}

Result<std::string> picture(const std::vector<json::Document>& documents, const TopOptions& options,
                            const std::string& what) {
  World world;
  if (auto read = read_world(documents, options.sources, world, Telling::kNothing); !read) {
    return tl::unexpected(read.error());
  }
  const view::Present present = what_is(world, options.sources);
  view::TextOptions text = text_options(*options.color);
  text.present = true;
  return heading(what, world.cluster, present) + view::present_to_text(world.cluster, present, text) +
         queue_table(documents, text);
}

int fail_with(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  return kBadInput;
}

int show_once(const TopOptions& options) {
  auto documents = read_documents(options.sources, kinds_to_show());
  const auto drawn = documents ? picture(*documents, options, "gantree top") : tl::unexpected(documents.error());
  if (!drawn) {
    return fail_with(drawn.error().message);
  }
  return write_output(*drawn) ? kDone : kBadInput;
}

// Waits for the first lists. False after a line on stderr.
bool wait_for_lists(const LiveObjects& objects) {
  const auto end = Clock::now() + kTopPatience;
  while (!objects.synced()) {
    if (Clock::now() > end) {
      tell(fmt::format("the cluster cannot be read: {}",
                       objects.trouble().empty() ? "its API server does not answer" : objects.trouble()));
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

int page_height() {
  return std::max(Screen::height() - 2, 1);
}

// The first line to show of so many, as far as there are more than fit.
int within(int first, int lines) {
  return std::clamp(first, 0, std::max(lines - page_height(), 0));
}

int scrolled(view::Key key, int first, int lines) {
  switch (key) {
    case view::Key::kUp:
      return within(first - 1, lines);
    case view::Key::kDown:
      return within(first + 1, lines);
    case view::Key::kPageUp:
      return within(first - page_height(), lines);
    case view::Key::kPageDown:
      return within(first + page_height(), lines);
    case view::Key::kTop:
      return 0;
    case view::Key::kBottom:
      return within(lines, lines);
    case view::Key::kQuit:
    case view::Key::kOther:
      break;
  }
  return first;
}

// In one row, so that it never makes the terminal scroll.
std::string footer(const std::string& trouble, const view::TextOptions& text) {
  const std::string words = trouble.empty() ? "q: leave, the cluster goes on   arrows, space, b, g, G: scroll"
                                            : "trouble: " + view::printable(trouble, text.unicode);
  return view::clipped(fmt::format("{}   {}", clock_time(), words), text.width, text.unicode);
}

int show_live(const TopOptions& options) {
  auto cluster = open_cluster(options.sources.config);
  if (!cluster) {
    return fail_with("gantree: " + cluster.error().message);
  }
  const LiveObjects objects(*cluster, kinds_to_show());
  if (!wait_for_lists(objects)) {
    return kBadInput;
  }
  Screen screen;
  std::optional<std::uint64_t> shown;
  std::string text;
  int first = 0;
  auto next = Clock::now();
  int width = 0;
  while (true) {
    const view::TextOptions look = text_options(*options.color);
    if ((Clock::now() >= next && shown != objects.version()) || width != look.width) {
      const auto began = Clock::now();
      shown = objects.version();
      width = look.width;
      const auto documents = objects.documents();
      const auto drawn =
          documents ? picture(*documents, options, cluster->config.server) : tl::unexpected(documents.error());
      text = drawn ? *drawn : drawn.error().message + "\n";
      next = began + std::max<Clock::duration>(options.interval, kShare * (Clock::now() - began));
    }
    const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    first = within(first, lines);
    screen.draw(text, first, footer(objects.trouble(), look));
    for (const view::Key key : screen.wait(kTick)) {
      if (key == view::Key::kQuit) {
        return kDone;
      }
      first = scrolled(key, first, lines);
    }
  }
}

}  // namespace

void add_top(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      app.add_subcommand("top", "Show domains, gangs and queues live: what runs where, what waits and why");
  add_live_source_options(*command, options->sources);
  command->add_flag("--once", options->once, "Print one picture and end; so also where the output is no terminal");
  add_duration(*command, "--interval", options->interval, "How long a picture stays at least");
  options->color = add_color_option(*command);
  command->footer(
      "Reads the cluster of your kubeconfig by watches, or once the files that -f names. q leaves the view; the "
      "cluster goes on.");
  command->callback([&run, options] {
    run = [options] {
      const bool live = !options->once && options->sources.files.empty() && Screen::possible();
      return live ? show_live(*options) : show_once(*options);
    };
  });
}

}  // namespace gantree
