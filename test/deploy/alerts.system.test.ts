import { execa } from 'execa';
import { locateRealTool } from '../helpers/real-tool.ts';

const FOLDER = 'deploy/prometheus';

describe('the alert rules', () => {
  it.each([
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])('pass promtool %s %s', async (...args) => {
    const { exitCode, all } = await execa(await locateRealTool('promtool'), args, {
      cwd: FOLDER,
      reject: false,
      all: true,
    });
    expect({ exitCode, all }).toEqual({ exitCode: 0, all: expect.stringContaining('SUCCESS') });
  });
});
