package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the certificates of one run; it lives as long as the run's directory.
type authority struct {
	dir         string
	name        string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// pair names the two files of a certificate.
type pair struct{ certificate, key string }

func newAuthority(dir, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificateTemplate(pkix.Name{CommonName: name})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	made := &authority{dir: dir, name: name, certificate: certificate, key: key}
	return made, writePEM(made.file(), "CERTIFICATE", der)
}

// file is the path of the authority's own certificate.
func (a *authority) file() string { return filepath.Join(a.dir, a.name+".crt") }

// issue writes a certificate for a user (and group), good for clients and for servers on loopback.
func (a *authority) issue(user, group string) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	subject := pkix.Name{CommonName: user}
	if group != "" {
		subject.Organization = []string{group}
	}
	template := certificateTemplate(subject)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	base := filepath.Join(a.dir, a.name+"-"+fileName(user))
	made := pair{base + ".crt", base + ".key"}
	if err := writePEM(made.certificate, "CERTIFICATE", der); err != nil {
		return pair{}, err
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return made, writePEM(made.key, "EC PRIVATE KEY", encoded)
}

func certificateTemplate(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// writeServiceAccountKey makes the key that signs service account tokens.
func writeServiceAccountKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	return writePEM(path, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

func writePEM(path, kind string, content []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}

func fileName(user string) string {
	name := []rune(user)
	for i, letter := range name {
		if letter == ':' || letter == '/' {
			name[i] = '-'
		}
	}
	return string(name)
}

// writeKubeconfig writes how a user reaches the API server.
func writeKubeconfig(path, server, authorityFile string, client pair) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- {name: loopback, cluster: {server: %q, certificate-authority: %q}}
users:
- {name: user, user: {client-certificate: %q, client-key: %q}}
contexts:
- {name: loopback, context: {cluster: loopback, user: user}}
current-context: loopback
`, server, authorityFile, client.certificate, client.key)
	return os.WriteFile(path, []byte(text), 0o600)
}
