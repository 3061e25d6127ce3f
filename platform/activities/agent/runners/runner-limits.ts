/** Limits of every runner that starts processes. */
export type RunnerLimits = {
  /** How long the agent may run, not counting the checkout before and the collecting after it. */
  timeoutMs: number;
  /** The size of the disk for the checkout, the agent's HOME and its temporary files. It is in memory. */
  scratchSizeBytes: number;
  /** How much the agent may print. If it prints more, it is killed and the run fails. */
  outputLimitBytes: number;
  /** The largest pack of the agent's change. */
  changeLimitBytes: number;
};

/** Defaults. */
export const DEFAULT_RUNNER_LIMITS = {
  timeoutMs: 30 * 60_000,
  scratchSizeBytes: 2 * 1024 ** 3,
  outputLimitBytes: 10 * 1024 ** 2,
  changeLimitBytes: 256 * 1024 ** 2,
} as const;

/** What an agent may reach from its sandbox. Hosts are `host:port`, spelled as `URL` does. */
export type AgentNetwork = {
  /** Reached through a proxy, at public addresses. Empty: no proxy and no network. */
  allow: readonly string[];
  /** Galley's own servers. Their addresses are rejected, whatever name resolves to them. */
  refuse: readonly string[];
};

/** How processes are isolated from the machine. */
export type SandboxOptions = {
  /** `off` runs them as ordinary processes of the worker's user: only for machines that are a sandbox themselves. */
  sandbox: 'on' | 'off';
  /** This is enforced only in the sandbox. */
  network: AgentNetwork;
  /**
   * All variables of the agent besides HOME, TMPDIR and TERM: PATH (also used to find its command), LANG, TZ and what
   * the operator named. Nothing comes from the worker's own environment.
   */
  environment: Readonly<Record<string, string>>;
  /** Absolute paths that the agent may read besides the system's programs and libraries. */
  readOnlyPaths: readonly string[];
};
