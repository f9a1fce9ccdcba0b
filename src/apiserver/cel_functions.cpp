#include "apiserver/cel_functions.h"

#include <array>
#include <map>
#include <utility>

namespace gantree::apiserver {

namespace {

using Table = std::map<std::pair<std::string_view, std::size_t>, const CelFunction*>;

Table all_functions() {
  Table table;
  for (const std::span<const CelFunction> part : {cel_text_functions(), cel_list_functions(), cel_time_functions(),
                                                  cel_network_functions(), cel_value_functions()}) {
    for (const CelFunction& function : part) {
      table.emplace(std::pair(function.name, function.arguments), &function);
    }
  }
  return table;
}

}  // namespace

const CelFunction* find_cel_function(std::string_view name, std::size_t arguments) {
  static const Table kTable = all_functions();
  const auto found = kTable.find({name, arguments});
  return found == kTable.end() ? nullptr : found->second;
}

bool is_cel_library(std::string_view name) {
  constexpr auto kLibraries = std::to_array<std::string_view>({"sets", "ip", "optional"});
  for (const std::string_view library : kLibraries) {
    if (library == name) {
      return true;
    }
  }
  return false;
}

}  // namespace gantree::apiserver
