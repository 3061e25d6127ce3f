/** What every runner that starts processes is held to. Part of the options of each of them. */
export type RunnerLimits = {
  /** How long the agent may run, the checkout before and the collecting after it not counted. */
  timeoutMs: number;
  /** The size of the disk that holds the checkout, the agent's HOME and its temporary files. It lies in memory. */
  scratchSizeBytes: number;
  /** How much the agent may print. Past it the agent is ended and the run fails. */
  outputLimitBytes: number;
  /** How large the pack of the agent's change may be. */
  changeLimitBytes: number;
};

/** The limits where the operator names none. */
export const DEFAULT_RUNNER_LIMITS = {
  timeoutMs: 30 * 60_000,
  scratchSizeBytes: 2 * 1024 ** 3,
  outputLimitBytes: 10 * 1024 ** 2,
  changeLimitBytes: 256 * 1024 ** 2,
} as const;

/** What an agent may reach in its sandbox. Hosts are `host:port`, in the spelling of `URL`. */
export type AgentNetwork = {
  /** Reached through a proxy, at public addresses. Empty: there is no proxy, and no network at all. */
  allow: readonly string[];
  /** Servers of Galley's own. Their addresses are refused, whichever allowed name leads there. */
  refuse: readonly string[];
};

/** How processes are kept apart from the machine. */
export type SandboxOptions = {
  /** `off` runs them as ordinary processes of the worker's user: only for machines that are a sandbox themselves. */
  sandbox: 'on' | 'off';
  /** Only the sandbox can hold processes to it. */
  network: AgentNetwork;
  /**
   * Every variable that the agent gets besides HOME, TMPDIR and TERM: PATH (by which its command is found too), LANG, TZ
   * and what the operator named. Nothing is taken from the worker's own environment.
   */
  environment: Readonly<Record<string, string>>;
  /** Absolute paths of the machine that the agent may read besides the system's programs and libraries. */
  readOnlyPaths: readonly string[];
};
