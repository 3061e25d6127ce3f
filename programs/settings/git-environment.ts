/** The worker's variables that git gets: the search path, proxies, and keys for SSH. */
export const FOR_GIT = [
  'PATH',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'SSH_AUTH_SOCK', 'GIT_SSH_COMMAND'],
];
