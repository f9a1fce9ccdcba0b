#include "json/decode.h"

#include <gtest/gtest.h>

#include <limits>

#include "json/read.h"

namespace gantree::json {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// One document and a reader of it.
struct Read {
  explicit Read(const std::string& text) : documents(read_documents("nodes.yaml", text).value()) {}

  std::vector<Document> documents;
  Value root = documents.front().root();
  Reader read{"nodes.yaml", root, "Node \"a\""};

  std::string message() { return read.ok() ? "no error" : read.error().value().message; }
};

TEST(Reader, ReadsFieldsOfEachKind) {
  Read r("s: x\nb: yes\ni: 5\no: {p: 1}\nl: [1]\nq: 1500m\nm: {k: v}\n");
  EXPECT_EQ(r.read.text(r.root, "s"), "x");
  EXPECT_EQ(r.read.require_text(r.root, "s"), "x");
  EXPECT_EQ(r.read.boolean(r.root, "b"), true);
  EXPECT_EQ(r.read.integer(r.root, "i", 0, 10), 5);
  EXPECT_TRUE(r.read.object(r.root, "o"));
  EXPECT_TRUE(r.read.require_object(r.root, "o"));
  EXPECT_EQ(r.read.array(r.root, "l").items().size(), 1U);
  EXPECT_EQ(r.read.require_array(r.root, "l").items().size(), 1U);
  EXPECT_EQ(r.read.quantity(r.root, "q", Unit::kMilli, Round::kUp), 1500);
  EXPECT_EQ(r.read.quantity(r.root, "i", Unit::kMilli, Round::kUp, 0), 5000);
  EXPECT_EQ(r.read.texts(r.root, "m")["k"].text(), "v");
  EXPECT_EQ(r.read.as_text(r.root["s"], "it"), "x");
  EXPECT_EQ(r.message(), "no error");
}

TEST(Reader, MissingAndNullAreTheSameAndNoErrorWhereOptional) {
  Read r("n: null\n");
  for (const char* key : {"n", "absent"}) {
    EXPECT_FALSE(r.read.object(r.root, key));
    EXPECT_FALSE(r.read.array(r.root, key));
    EXPECT_FALSE(r.read.texts(r.root, key));
    EXPECT_FALSE(r.read.text(r.root, key));
    EXPECT_FALSE(r.read.boolean(r.root, key));
    EXPECT_FALSE(r.read.integer(r.root, key, 0, 1));
    EXPECT_FALSE(r.read.quantity(r.root, key, Unit::kOne, Round::kUp));
  }
  EXPECT_FALSE(r.read.text(r.read.object(r.root, "absent"), "deeper"));
  EXPECT_FALSE(r.read.text(r.root["n"], "deeper"));
  EXPECT_TRUE(r.read.ok());
}

TEST(Reader, AMissingRequiredFieldIsNamedByItsPath) {
  Read r("metadata:\n  labels:\n    a: b\n");
  r.read.require_text(r.root["metadata"], "name");
  EXPECT_EQ(r.message(), "nodes.yaml:2: Node \"a\": metadata.name is missing");

  Read top("a: 1\n");
  top.read.require_object(top.read.object(top.root, "spec"), "template");
  EXPECT_EQ(top.message(), "nodes.yaml:1: Node \"a\": template is missing");

  Read empty("a: \"\"\n");
  empty.read.require_text(empty.root, "a");
  EXPECT_EQ(empty.message(), "nodes.yaml:1: Node \"a\": a must not be empty");
}

TEST(Reader, AWrongKindIsNamedWithLinePathAndWhatIsThere) {
  Read r("status:\n  allocatable: lots\n");
  r.read.object(r.read.object(r.root, "status"), "allocatable");
  EXPECT_EQ(r.message(), "nodes.yaml:2: Node \"a\": status.allocatable must be an object, not a string");

  Read list("spec:\n  containers:\n  - name: x\n  - name: [y]\n");
  list.read.text(Value(&list.root["spec"]["containers"].items()[1]), "name");
  EXPECT_EQ(list.message(), "nodes.yaml:4: Node \"a\": spec.containers[1].name must be a string, not a list");

  Read scalar("spec:\n- x\n");
  scalar.read.text(Value(&scalar.root["spec"].items()[0]), "name");
  EXPECT_EQ(scalar.message(), "nodes.yaml:2: Node \"a\": spec[0] must be an object, not a string");
}

TEST(Reader, UnquotedLabelValuesGetAHint) {
  Read r("labels:\n  topology/rack: 1\n");
  EXPECT_FALSE(r.read.texts(r.root, "labels"));
  EXPECT_EQ(r.message(),
            "nodes.yaml:2: Node \"a\": labels[\"topology/rack\"] must be a string, not a number (put it in quotes)");
}

TEST(Reader, ReadsIntegersAsKubernetesWritesThem) {
  Read r("a: 8.0\nb: 1e3\nc: 0x1F\nd: 010\ne: 0\nf: -5\ng: +7\nh: 0o17\ni: -0x10\nj: 0b101\nk: 0.5e1\n");
  const auto integer = [&](const char* key) { return r.read.integer(r.root, key, -100, 10'000); };
  EXPECT_EQ(integer("a"), 8);
  EXPECT_EQ(integer("b"), 1000);
  EXPECT_EQ(integer("c"), 31);
  EXPECT_EQ(integer("d"), 8);
  EXPECT_EQ(integer("e"), 0);
  EXPECT_EQ(integer("f"), -5);
  EXPECT_EQ(integer("g"), 7);
  EXPECT_EQ(integer("h"), 15);
  EXPECT_EQ(integer("i"), -16);
  EXPECT_EQ(integer("j"), 5);
  EXPECT_EQ(integer("k"), 5);
  EXPECT_EQ(r.message(), "no error");
}

TEST(Reader, IntegersOutsideTheirBoundsAreErrors) {
  const auto message = [](const std::string& text, std::int64_t min, std::int64_t max) {
    Read r("n: " + text);
    EXPECT_FALSE(r.read.integer(r.root, "n", min, max));
    return r.message();
  };
  EXPECT_EQ(message("11", 0, 10), "nodes.yaml:1: Node \"a\": n must be from 0 to 10, not 11");
  EXPECT_EQ(message("-1", 0, kMax), "nodes.yaml:1: Node \"a\": n must be at least 0, not -1");
  EXPECT_EQ(message("1.5", 0, 10), "nodes.yaml:1: Node \"a\": n must be an integer, not 1.5");
  EXPECT_EQ(message("1e300", 0, 10), "nodes.yaml:1: Node \"a\": n must be an integer, not 1e300");
  EXPECT_EQ(message(".inf", 0, 10), "nodes.yaml:1: Node \"a\": n must be an integer, not .inf");
  EXPECT_EQ(message("99999999999999999999", 0, kMax),
            "nodes.yaml:1: Node \"a\": n must be an integer, not 99999999999999999999");
  EXPECT_EQ(message("'5'", 0, 10), "nodes.yaml:1: Node \"a\": n must be a number, not a string");
}

TEST(Reader, BadQuantitiesAreErrors) {
  const auto message = [](const std::string& text) {
    Read r("status: {cpu: " + text + "}");
    EXPECT_FALSE(r.read.quantity(r.root["status"], "cpu", Unit::kMilli, Round::kDown, 0));
    return r.message();
  };
  EXPECT_EQ(message("ten"), "nodes.yaml:1: Node \"a\": status.cpu: \"ten\" is not a quantity");
  EXPECT_EQ(message("-1"), "nodes.yaml:1: Node \"a\": status.cpu must be at least 0, not -1");
  EXPECT_EQ(message("99E"), "nodes.yaml:1: Node \"a\": status.cpu: the quantity \"99E\" is out of range");
  EXPECT_EQ(message("[1]"), "nodes.yaml:1: Node \"a\": status.cpu must be a string, not a list");
}

TEST(Reader, KeepsTheFirstErrorAndReadsOn) {
  Read r("a: 1\nb: 2\n");
  EXPECT_EQ(r.read.require_text(r.root, "a"), "");
  r.read.text(r.root, "b");
  r.read.complain(r.root, "something else");
  EXPECT_EQ(r.message(), "nodes.yaml:1: Node \"a\": a must be a string, not a number (put it in quotes)");
}

TEST(Reader, ValuesAloneAreNamedByTheCallerWhereNoPathIsKnown) {
  const auto documents = read_documents("f", "a: [x]\n").value();
  Reader read("f", "");
  read.as_integer(documents[0].root()["a"], "the rank", 0, 5);
  EXPECT_EQ(read.error().value().message, "f:1: the rank must be a number, not a list");

  Reader absent("f", "Job \"j\"");
  EXPECT_FALSE(absent.as_object(Value(), "the template"));
  EXPECT_EQ(absent.error().value().message, "f: Job \"j\": the template is missing");
}

TEST(Place, IsWrittenAsFileAndLine) {
  EXPECT_EQ(to_string(Place{.file = "a.yaml", .line = 7}), "a.yaml:7");
}

}  // namespace
}  // namespace gantree::json
