"""Networks that manifests describe: policies, Services, Ingresses."""
