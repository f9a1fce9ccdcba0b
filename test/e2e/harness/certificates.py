"""Certificates for the control plane and all who talk to it: one authority, servers on loopback, clients by user and groups."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = datetime.timedelta(days=30)


def _pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def write_service_account_key(folder):
    """The key pair that service account tokens are signed and checked with: (private, public)."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private, public = folder / "service-account.key", folder / "service-account.pub"
    private.write_bytes(_pem(key))
    public.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM,
                                                     serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


class Authority:
    """A certificate authority whose files lie in one folder: NAME.crt and NAME.key of each certificate, and ca.crt."""

    def __init__(self, folder):
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gantree-e2e")])
        certificate = self._builder(self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True).add_extension(
            x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
                          key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
                          decipher_only=False), critical=True).sign(self._key, hashes.SHA256())
        self.certificate = folder / "ca.crt"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, file, names=("localhost",), addresses=("127.0.0.1",)):
        """A server certificate for loopback: (certificate file, key file)."""
        alternative = [x509.DNSName(name) for name in names]
        alternative += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, file)])
        return self._issue(file, subject, ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(alternative))

    def client(self, user, groups=()):
        """A client certificate that the API server takes for this user in these groups: (certificate file, key file)."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user)] +
                            [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups])
        return self._issue(user.replace(":", "_"), subject, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _builder(self, subject, public_key):
        now = datetime.datetime.now(datetime.timezone.utc)
        return x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(public_key).serial_number(
            x509.random_serial_number()).not_valid_before(now - datetime.timedelta(minutes=5)).not_valid_after(now + VALID)

    def _issue(self, file, subject, usage, alternative):
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(subject, key.public_key()).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if alternative is not None:
            builder = builder.add_extension(alternative, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        files = self.folder / f"{file}.crt", self.folder / f"{file}.key"
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(_pem(key))
        return files
