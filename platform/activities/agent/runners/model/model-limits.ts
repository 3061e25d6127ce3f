export type ModelLimits = {
  /** The most responses of the model in a run. */
  maxSteps: number;
  /** Tokens of all requests and responses together, as the endpoint counts them. */
  maxTokens: number;
  /** The largest file that the model may read or write. */
  maxFileBytes: number;
  /** For one request to the endpoint. */
  requestTimeoutMs: number;
};

/** Defaults. */
export const DEFAULT_MODEL_LIMITS = {
  maxSteps: 60,
  maxTokens: 2_000_000,
  maxFileBytes: 256 * 1024,
  requestTimeoutMs: 5 * 60_000,
} as const;
