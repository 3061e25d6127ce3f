import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createLifetime } from '../../programs/process/lifetime.ts';
import { readSettings } from '../../programs/settings/environment.ts';
import { prepare } from '../../programs/up/prepare.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const OF_YAML = { url: 'smtp://127.0.0.1:1025', from: 'Galley <galley@example.com>' };
const OF_VARIABLES = { url: 'smtps://mail.example.com', from: 'Dashboard <dashboard@example.com>' };
const VARIABLES = { PLATFORM_SMTP_URL: OF_VARIABLES.url, PLATFORM_SMTP_FROM: OF_VARIABLES.from };

it.each([
  ['the variables', VARIABLES, { smtp: OF_YAML }, OF_VARIABLES],
  ['galley.yaml without the variables', {}, { smtp: OF_YAML }, OF_YAML],
  ['nothing', {}, {}, undefined],
])("takes the dashboard's mail server from %s", async (_name, variables, sections, expected) => {
  const config = join(folder, 'galley.yaml');
  await writeFile(config, JSON.stringify({ ...sections, sites: {} }));
  const home = { GALLEY_HOME: join(folder, 'home'), GALLEY_CONFIG: config };
  const lifetime = createLifetime(pino({ level: 'silent' }));
  const { platformMail } = await prepare(readSettings({ ...home, ...FREE_PORTS, ...variables }), lifetime);
  await lifetime.stop();
  expect(platformMail).toEqual(expected);
});
