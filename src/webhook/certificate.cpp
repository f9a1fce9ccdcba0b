#include "webhook/certificate.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <optional>

namespace gantree::webhook {

namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

// The names that count are the alternative ones; this one may not be longer than 64 characters.
constexpr std::string_view kServerName = "gantree-webhook";
constexpr int kSerialBits = 159;  // at most 20 bytes, and positive

tl::unexpected<Error> failed(std::string_view what) {
  std::array<char, 256> reason{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, reason.data(), reason.size());
  ERR_clear_error();
  return fail(Errc::kInvalid, code == 0 ? std::string(what) : fmt::format("{}: {}", what, reason.data()));
}

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string written(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Certificate parse_certificate(std::string_view pem) {
  Certificate certificate(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

// A key that asks for a password is of no use: the callback says there is none.
Key parse_key(std::string_view pem) {
  const auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

std::string to_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  return PEM_write_bio_X509(bio.get(), certificate) == 1 ? written(bio.get()) : std::string();
}

std::string to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  const int done = PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return done == 1 ? written(bio.get()) : std::string();
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
  const Number number(BN_new());
  return BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_validity(X509* certificate, const Validity& validity) {
  const auto seconds = [](WallTime time) { return static_cast<std::time_t>(time.time_since_epoch().count()); };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(validity.until)) != nullptr;
}

// All that both kinds of certificate have.
Certificate draft(std::string_view common_name, EVP_PKEY* key, const Validity& validity) {
  Certificate certificate(X509_new());
  const bool done = X509_set_version(certificate.get(), X509_VERSION_3) == 1 && set_serial(certificate.get()) &&
                    set_validity(certificate.get(), validity) && X509_set_pubkey(certificate.get(), key) == 1 &&
                    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                               reinterpret_cast<const unsigned char*>(common_name.data()),
                                               static_cast<int>(common_name.size()), -1, 0) == 1;
  return done ? std::move(certificate) : nullptr;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string value;
  for (const std::string& name : names) {
    fmt::format_to(std::back_inserter(value), "{}{}:{}", value.empty() ? "" : ",", is_address(name) ? "IP" : "DNS",
                   name);
  }
  return value;
}

std::optional<WallTime> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return std::nullopt;
  }
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  const bool sized = family == AF_INET || ASN1_STRING_length(address) == 16;
  const char* written = sized ? inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size()) : nullptr;
  return written == nullptr ? std::string() : std::string(written);
}

std::vector<std::string> names_of(const X509* certificate) {
  std::vector<std::string> found;
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      found.push_back(text_of(name->d.dNSName));
    } else if (name->type == GEN_IPADD) {
      found.push_back(address_of(name->d.iPAddress));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<KeyPair> make_authority(std::string_view common_name, const Validity& validity) {
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) {
    return failed("a key for the authority could not be made");
  }
  const Certificate certificate = draft(common_name, key.get(), validity);
  X509* const raw = certificate.get();
  const bool done = raw != nullptr && X509_set_issuer_name(raw, X509_get_subject_name(raw)) == 1 &&
                    add_extension(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    add_extension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    add_extension(raw, raw, NID_subject_key_identifier, "hash") &&
                    X509_sign(raw, key.get(), EVP_sha256()) > 0;
  if (!done) {
    return failed("the authority's certificate could not be made");
  }
  return KeyPair{to_pem(raw), to_pem(key.get())};
}

Result<KeyPair> issue(const KeyPair& authority, const std::vector<std::string>& names, const Validity& validity) {
  const Certificate issuer = parse_certificate(authority.certificate);
  const Key issuer_key = parse_key(authority.key);
  if (issuer == nullptr || issuer_key == nullptr || X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    return failed("the authority is of no use: its certificate and key do not belong together");
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key == nullptr ? nullptr : draft(kServerName, key.get(), validity);
  X509* const raw = certificate.get();
  const bool done = raw != nullptr && X509_set_issuer_name(raw, X509_get_subject_name(issuer.get())) == 1 &&
                    add_extension(raw, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(raw, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
                    add_extension(raw, issuer.get(), NID_ext_key_usage, "serverAuth") &&
                    add_extension(raw, issuer.get(), NID_authority_key_identifier, "keyid:always") &&
                    add_extension(raw, issuer.get(), NID_subject_alt_name, alternative_names(names)) &&
                    X509_sign(raw, issuer_key.get(), EVP_sha256()) > 0;
  if (!done) {
    return failed(fmt::format("a certificate for {} could not be made", names.front()));
  }
  return KeyPair{to_pem(raw), to_pem(key.get())};
}

Result<CertificateFacts> read_certificate(std::string_view certificate) {
  const Certificate parsed = parse_certificate(certificate);
  if (parsed == nullptr) {
    return invalid("this is no certificate in PEM");
  }
  const auto from = time_of(X509_get0_notBefore(parsed.get()));
  const auto until = time_of(X509_get0_notAfter(parsed.get()));
  if (!from || !until) {
    return invalid("the certificate does not say when it is valid");
  }
  return CertificateFacts{.validity = {*from, *until}, .names = names_of(parsed.get())};
}

std::vector<std::string> split_bundle(std::string_view bundle) {
  std::vector<std::string> certificates;
  const Bio bio = reader(bundle);
  while (true) {
    const Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (certificate == nullptr) {
      break;
    }
    certificates.push_back(to_pem(certificate.get()));
  }
  ERR_clear_error();
  return certificates;
}

bool is_issued_by(std::string_view certificate, std::string_view authority) {
  const Certificate child = parse_certificate(certificate);
  const Certificate parent = parse_certificate(authority);
  const bool signed_by =
      child != nullptr && parent != nullptr && X509_verify(child.get(), X509_get0_pubkey(parent.get())) == 1;
  ERR_clear_error();
  return signed_by;
}

bool belong_together(const KeyPair& pair) {
  const Certificate certificate = parse_certificate(pair.certificate);
  const Key key = parse_key(pair.key);
  const bool together =
      certificate != nullptr && key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return together;
}

}  // namespace gantree::webhook
