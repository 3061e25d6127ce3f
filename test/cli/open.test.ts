import { galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';

const runOpen = async (args: string[], linksStatus: number) => {
  const api = await startHttpSite((request, response) => {
    if (request.url === '/ui/sign-in/links')
      response.writeHead(linksStatus).end(JSON.stringify({ path: '/ui/sign-in?link=once' }));
    else
      response
        .writeHead(request.url === '/sites/docs' ? 200 : 404)
        .end(JSON.stringify({ site: 'docs', error: 'no such site' }));
  });
  const found = await galleyHere(['open', '--url', api.origin, ...args], { OPERATOR_TOKEN: 'token' });
  await api.close();
  return { ...found, stdout: found.stdout.replaceAll(api.origin, 'http://api') };
};

test.each([
  [[], 201, 'http://api/ui/sign-in?link=once&to=%2F\n'],
  [['docs'], 201, 'http://api/ui/sign-in?link=once&to=%2Fui%2Fsites%2Fdocs\n'],
  [['docs'], 404, 'http://api/ui/sites/docs\n'],
  [['docs', '--json'], 404, '{\n  "url": "http://api/ui/sites/docs"\n}\n'],
])('open %j prints the URL without a display (sign-in links: %i)', async (args, status, stdout) => {
  expect(await runOpen(args, status)).toMatchObject({ code: 0, stdout });
});

test('open reports an unknown site, and that no up runs', async () => {
  expect(await runOpen(['nonsense'], 201)).toMatchObject({ code: 1, stderr: expect.stringContaining('no such site') });
  const { code, stderr } = await galleyHere(['open', '--served'], { GALLEY_HOME: '/nonexistent' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/No galley up runs on/) });
});
