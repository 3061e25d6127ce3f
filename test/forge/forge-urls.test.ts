import { ForgeError } from '../../forge/forge-error.ts';
import { forgeUrls } from '../../forge/hosted/forge-urls.ts';

const failure = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

describe('the URL of a forge', () => {
  it.each([
    [undefined, 'https://api.github.com', 'https://github.com'],
    ['https://api.github.com', 'https://api.github.com', 'https://github.com'],
    ['https://github.com/', 'https://api.github.com', 'https://github.com'],
    ['https://acme.ghe.com', 'https://api.acme.ghe.com', 'https://acme.ghe.com'],
    ['https://api.acme.ghe.com/', 'https://api.acme.ghe.com', 'https://acme.ghe.com'],
    ['https://git.example.com/api/v3', 'https://git.example.com/api/v3', 'https://git.example.com'],
    ['https://git.example.com:8443/', 'https://git.example.com:8443/api/v3', 'https://git.example.com:8443'],
    ['https://user:secret@git.example.com/?a=b#c', 'https://git.example.com/api/v3', 'https://git.example.com'],
  ])('of kind github, %s, gives the URLs of the API and the pages', (url, apiUrl, webUrl) => {
    expect(forgeUrls('github', url)).toMatchObject({ apiUrl, webUrl });
  });

  it.each([
    ['https://git.example.com', 'https://git.example.com/api/v1', 'https://git.example.com'],
    ['http://127.0.0.1:3000/api/v1/', 'http://127.0.0.1:3000/api/v1', 'http://127.0.0.1:3000'],
    ['https://example.com/git/', 'https://example.com/git/api/v1', 'https://example.com/git'],
    ['https://example.com/git/api/v1', 'https://example.com/git/api/v1', 'https://example.com/git'],
  ])('of kind gitea, %s, gives both URLs, also with a path', (url, apiUrl, webUrl) => {
    expect(forgeUrls('gitea', url)).toMatchObject({ apiUrl, webUrl });
  });

  it('is required for Gitea, and must use HTTP', () => {
    expect(() => forgeUrls('gitea', undefined)).toThrow('Gitea needs its url');
    expect(() => forgeUrls('github', 'ssh://git@github.com')).toThrow('must begin with https://');
    expect(() => forgeUrls('github', 'github.com')).toThrow('must begin with https:// or http://, got github.com');
  });
});

describe('the URL of a repository', () => {
  const gitHub = forgeUrls('github', undefined);
  const below = forgeUrls('gitea', 'https://git.example.com:8443/forge');

  it.each([
    'https://github.com/acme/docs',
    'https://github.com/acme/docs/',
    'https://github.com/acme/docs.git',
    'https://GitHub.com/acme/docs.git',
    'https://ada@github.com/acme/docs.git',
  ])('may be %s, which needs a token for git', (address) => {
    expect(gitHub.repositoryOf(address)).toEqual({ owner: 'acme', name: 'docs', overHttp: true });
  });

  it.each([
    'git@github.com:acme/docs.git',
    'git@github.com:acme/docs',
    'git@GITHUB.com:/acme/docs.git',
    'ssh://git@github.com/acme/docs.git',
    'ssh://git@ssh.github.com:443/acme/docs.git',
  ])('may be %s, which uses an SSH key for git', (address) => {
    expect(gitHub.repositoryOf(address)).toEqual({ owner: 'acme', name: 'docs', overHttp: false });
  });

  it('may contain dots, and may have a path prefix, which SSH URLs lack', () => {
    const named = { owner: 'acme.org', name: 'docs.example.com' };
    for (const address of ['https://git.example.com:8443/forge/acme.org/docs.example.com.git']) {
      expect(below.repositoryOf(address)).toEqual({ ...named, overHttp: true });
    }
    for (const address of [
      'git@git.example.com:acme.org/docs.example.com.git',
      'ssh://git@git.example.com:2222/acme.org/docs.example.com',
    ]) {
      expect(below.repositoryOf(address)).toEqual({ ...named, overHttp: false });
    }
  });

  it.each([
    'https://github.com.evil.example/acme/docs',
    'https://github.com@evil.example/acme/docs',
    'https://evil.example/github.com/acme/docs',
    'https://github.com:8443/acme/docs',
    'http://github.com/acme/docs',
    'https://github.com/acme',
    'https://github.com/acme/docs/tree/main',
    'https://github.com/acme/..',
    'https://github.com/acme/.git',
    'https://github.com/acme/do%2Fcs',
    'https://api.github.com/acme/docs',
    'git@evil.example:acme/docs.git',
    'git@github.com.evil.example:acme/docs.git',
    'ssh://github.com@evil.example/acme/docs.git',
    'file:///srv/git/docs.git',
    '/srv/git/docs.git',
    'acme/docs',
    '',
  ])('is rejected permanently if it is %p', (address) => {
    const error = failure(() => gitHub.repositoryOf(address));
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ retryable: false, status: null });
    expect(error).toHaveProperty('message', expect.stringContaining('is no repository of https://github.com'));
  });

  it('does not appear with its password in the error', () => {
    const error = failure(() =>
      gitHub.repositoryOf('https://ada:hunter2@evil.example/acme/docs?token=hunter3#hunter4'),
    );
    expect(String(error)).toContain('https://evil.example/acme/docs is no repository');
    expect(String(error)).not.toContain('hunter');
  });
});

describe('the URL of a pull request', () => {
  const gitHub = forgeUrls('github', 'https://git.example.com/api/v3');
  const gitea = forgeUrls('gitea', 'https://example.com/forge');

  it('is its page, or a page below it', () => {
    const named = { owner: 'acme', name: 'docs', number: 12 };
    expect(gitHub.pullRequestOf('https://git.example.com/acme/docs/pull/12')).toEqual(named);
    expect(gitHub.pullRequestOf('https://git.example.com/acme/docs/pull/12/files?w=1#diff')).toEqual(named);
    expect(gitea.pullRequestOf('https://example.com/forge/acme/docs/pulls/12')).toEqual(named);
  });

  it.each([
    'https://github.com/acme/docs/pull/12',
    'https://git.example.com.evil.example/acme/docs/pull/12',
    'https://git.example.com/acme/docs/pull/0',
    'https://git.example.com/acme/docs/pull/12x',
    'https://git.example.com/acme/docs/issues/12',
    'https://git.example.com/acme/docs/pulls/12',
    'https://git.example.com/api/v3/repos/acme/docs/pulls/12',
    'javascript:alert(1)',
    'not a link',
  ])('is rejected permanently if it is %p', (address) => {
    expect(failure(() => gitHub.pullRequestOf(address))).toMatchObject({ name: 'ForgeError', retryable: false });
  });
});
