import { execa } from 'execa';

/**
 * The machine's engine, or that of `scripts/setup-containers`. Tests use it with DOCKER_HOST.
 * @throws Error if there is none
 */
export default async function startEngine() {
  const own = await execa('docker', ['info'], { reject: false });
  if (own.exitCode === 0 && process.env.CONTAINERS_HOME === undefined) return;
  await execa('scripts/containers/engine', ['start', 'run'], { stdio: 'inherit' });
  const { stdout: socket } = await execa('scripts/containers/engine', ['socket']);
  process.env.DOCKER_HOST = `unix://${socket}`;
  process.env.GALLEY_TEST_ENGINE = 'own';
}
