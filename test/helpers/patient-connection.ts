import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { endWithConnection } from '../../api/temporal-connection.ts';

/**
 * Connection options of tests: the SDK's default retries, except that a retry that is waiting when the connection closes
 * doesn't crash the process during the next test file.
 */
export const PATIENT_CONNECTION: Pick<ConnectionOptions, 'interceptors'> = {
  interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithConnection],
};
