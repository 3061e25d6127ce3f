import type { Logger } from 'pino';
import type { AgentRunner } from '../agent-runner.ts';
import type { RunnerLimits, SandboxOptions } from './runner-limits.ts';

export type ModelLimits = {
  /** How often the model may answer. */
  maxSteps: number;
  /** Tokens of all requests and answers together, as the endpoint counts them. */
  maxTokens: number;
  /** How much of one file the model may read or write. */
  maxFileBytes: number;
  /** For one request to the endpoint. */
  requestTimeoutMs: number;
};

/** The limits where the operator names none. */
export const DEFAULT_MODEL_LIMITS = {
  maxSteps: 60,
  maxTokens: 2_000_000,
  maxFileBytes: 256 * 1024,
  requestTimeoutMs: 5 * 60_000,
} as const;

export type ModelRunnerOptions = SandboxOptions & {
  /** The model's name at the endpoint, and what jobs report as `model`. */
  model: string;
  /** The base address of an OpenAI-compatible API, such as `https://api.openai.com/v1`. */
  url: string;
  /** Undefined for an endpoint that wants none. The model's tools never see it. */
  apiKey?: string;
  /** The project's check, a command line as of the command runner; without it the model has no `run_check`. */
  checkCommand?: string;
  limits: RunnerLimits;
  modelLimits: ModelLimits;
  logger: Logger;
};

/** A small loop of tools over any model that an OpenAI-compatible endpoint serves. */
export function createModelRunner(options: ModelRunnerOptions): AgentRunner {
  return {
    model: options.model,
    run: () => Promise.reject(new Error('Not built yet.')),
  };
}
