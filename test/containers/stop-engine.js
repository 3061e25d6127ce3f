import { execa } from 'execa';

export default async function stopEngine() {
  if (process.env.GALLEY_TEST_ENGINE === 'own') await execa('scripts/containers/engine', ['stop']);
}
