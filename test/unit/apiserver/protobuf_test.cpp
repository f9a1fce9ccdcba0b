#include "apiserver/protobuf.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/apiserver/protobuf_writer.h"

namespace gantree::apiserver {
namespace {

std::string varint(std::uint64_t value) {
  return ProtobufWriter::varint(value);
}
std::string text(unsigned number, const std::string& bytes) {
  return ProtobufWriter::text(number, bytes);
}
std::string integer(unsigned number, std::uint64_t value) {
  return ProtobufWriter::integer(number, value);
}
std::string envelope(const std::string& version, const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + text(1, text(1, version) + text(2, kind)) + text(2, raw);
}

std::string read(const std::string& bytes) {
  const auto value = read_protobuf(bytes);
  return value ? to_json(*value) : value.error().message;
}

TEST(Protobuf, IsReadAsTheJsonOfTheSameObject) {
  const std::string metadata = text(1, "a") + text(2, "") + text(8, "") + text(11, text(1, "k") + text(2, "v"));
  EXPECT_EQ(read(envelope("v1", "ConfigMap", text(1, metadata) + text(2, text(1, "x") + text(2, "y")))),
            R"({"metadata":{"name":"a","labels":{"k":"v"}},"data":{"x":"y"},"apiVersion":"v1","kind":"ConfigMap"})");
}

TEST(Protobuf, ShowsPartsWithoutANameWithoutOne) {
  const std::string volume = text(1, "v") + text(2, text(2, text(1, "")));
  const std::string container = text(1, "c") + text(8, text(2, text(1, "cpu") + text(2, text(1, "500m"))));
  EXPECT_EQ(read(envelope("v1", "Pod", text(2, text(1, volume) + text(2, container) + integer(4, 0)))),
            R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","resources":{"requests":)"
            R"({"cpu":"500m"}}}],"terminationGracePeriodSeconds":0},"apiVersion":"v1","kind":"Pod"})");
}

TEST(Protobuf, ThatIsBrokenIsRefused) {
  const std::string whole = envelope("v1", "ConfigMap", text(1, text(1, "a")));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    (void)read_protobuf(whole.substr(0, size));
  }
  EXPECT_FALSE(read_protobuf("{}"));
  EXPECT_FALSE(read_protobuf(envelope("v1", "Nothing", "")));
  EXPECT_FALSE(read_protobuf(envelope("v1", "ConfigMap", "\xff\xff")));
}

TEST(Protobuf, ThatNoJsonCanSayIsRefused) {
  EXPECT_FALSE(read_protobuf(envelope("v1", "ConfigMap", text(1, text(1, "\xff")))));
  EXPECT_FALSE(read_protobuf(envelope("v1", "ConfigMap", text(1, text(11, text(1, "\xc0\x80") + text(2, "v"))))));
  const auto with_maximum = [](std::uint64_t bits) {
    std::string number = varint(9U << 3U | 1U);
    for (unsigned i = 0; i < 8; ++i) {
      number += static_cast<char>(bits >> (8 * i));
    }
    return read(
        envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", text(2, text(7, text(4, text(1, number))))));
  };
  EXPECT_NE(with_maximum(0x3ff8000000000000U).find("\"maximum\":1.5"), std::string::npos);
  EXPECT_NE(with_maximum(0x7ff8000000000000U).find("cannot be read"), std::string::npos) << "not a number";
  EXPECT_NE(with_maximum(0xfff0000000000000U).find("cannot be read"), std::string::npos) << "no end";
}

}  // namespace
}  // namespace gantree::apiserver
