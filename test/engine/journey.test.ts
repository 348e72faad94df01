// The headless engine with the reference service on another origin: a token from the page, chunks, a commit, and a download of the
// same bytes. Each fault names its file, because all tests use the same service.

import { expect } from '@open-wc/testing';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { addFault, findReference, logOf, tokenOf, uniqueName } from '../service/reference.ts';
import { freshFile, sha256 } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';

async function createEngine(settings: SettingsInput = {}) {
  const reasons: string[] = [];
  const { uploader } = await world({
    service: 'reference',
    cancelPath: '/files/uploadsession',
    getToken: (reason) => {
      reasons.push(reason);
      return tokenOf('alice');
    },
    ...settings,
  });
  const done: string[] = [];
  uploader.onChange(({ name }) => done.push(name));
  const finished = (count = 1): Promise<void> =>
    until(() => done.filter((name) => name === 'uploads-finished').length >= count);
  return { finished, reasons, reported: done, uploader };
}

async function download(fileId: string): Promise<Blob> {
  const { baseUrl } = await findReference();
  const headers = { authorization: `Bearer ${await tokenOf('alice')}` };
  return (await fetch(`${baseUrl}/files/${fileId}`, { headers })).blob();
}

describe('a page with its own token', () => {
  it('uploads three files with one call for the token, and the service has the same bytes', async () => {
    const { finished, reasons, reported, uploader } = await createEngine();
    const files = [freshFile(1_000_000), freshFile(65_536), freshFile(1)];
    const fileIds = new Map<string, string>();
    uploader.on('upload-completed', ({ name, commit }) => {
      fileIds.set(name, (commit as { file_id: string }).file_id);
    });
    await uploader.addFiles(files);
    await finished();
    expect(uploader.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['done', 'done', 'done']);
    expect(reasons).to.deep.equal(['first']);
    expect(reported).not.to.include('auth-required');
    for (const file of files) {
      expect(await sha256(await download(fileIds.get(file.name) ?? ''))).to.equal(await sha256(file));
    }
  });

  it('resumes after a pause in the same session, and sends no stored chunk again', async () => {
    const { finished, uploader } = await createEngine({ concurrency: 1 });
    const file = freshFile(20 * 65_536);
    const stored: string[] = [];
    uploader.on('chunk-uploaded', ({ id, hash }) => {
      if (stored.length < 5 && stored.push(hash) === 5) void uploader.pause(id);
    });
    await uploader.addFiles([file]);
    await until(() => uploader.snapshot.files[0]?.phase === 'paused');
    await uploader.resume();
    await finished();
    expect(uploader.snapshot.files[0]?.phase).to.equal('done');
    const log = await logOf({ fileName: file.name });
    expect(log.filter(({ operation }) => operation === 'session')).to.have.length(1);
    const puts = log.filter(({ operation, hash }) => operation === 'put' && stored.includes(hash ?? ''));
    expect(puts).to.have.length(5);
  });

  it('recovers from a storage that fails now and then', async () => {
    const { finished, uploader } = await createEngine();
    const file = freshFile(10 * 65_536);
    const struck = await sha256(file.slice(65_536, 2 * 65_536));
    await addFault({ operation: 'put', status: 503, times: 2, match: { hash: struck } });
    await addFault({
      operation: 'put',
      cut: 'after-body',
      match: { hash: await sha256(file.slice(0, 65_536)) },
    });
    await uploader.addFiles([file]);
    await finished();
    expect(uploader.snapshot.files[0]?.phase).to.equal('done');
  });

  it('gets an error for a folder without write permission, and the other files continue', async () => {
    const { finished, uploader } = await createEngine({
      parentFor: (path) => (path.startsWith('no-') ? 'folder-readonly' : 'folder-a'),
    });
    const codes: string[] = [];
    uploader.on('upload-failed', ({ code }) => codes.push(code));
    await uploader.addFiles([freshFile(10, `no-${uniqueName()}`), freshFile(10)]);
    await finished();
    expect(codes).to.deep.equal(['forbidden']);
    expect(uploader.snapshot.files.map(({ phase }) => phase)).to.deep.equal(['failed', 'done']);
  });
});
