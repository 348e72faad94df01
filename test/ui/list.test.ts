// The rows of the list: names, order, and owner.

import { expect } from '@open-wc/testing';
import { nextName } from '../../src/core/names.ts';
import { uniqueName } from '../service/reference.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';
import { all, nextEvent, shown, textFile } from './support.ts';

describe('the list', () => {
  it('offers another name if the folder has a file of that name, or uses it automatically', async () => {
    const name = uniqueName();
    const names: string[] = [];
    const { element } = await world({ element: true, service: 'reference', parentId: 'folder-unique' });
    element.addEventListener('upload-completed', ({ detail }) => names.push(detail.name));
    const ended = (): Promise<unknown> => nextEvent(element, 'uploads-finished');
    for (let count = 0; count < 2; count += 1) {
      const end = ended();
      await element.addFiles([textFile(name)]);
      await end;
    }
    const next = nextName(name);
    const offer = await shown(() => all(element, '[part~="rename-button"]')[0]);
    expect(offer.textContent).to.equal(`Upload as ${next}`);
    const renamed = ended();
    offer.click();
    await renamed;
    const byItself = ended();
    element.onConflict = 'rename';
    await element.updateComplete;
    await element.addFiles([textFile(name)]);
    await byItself;
    expect(names).to.deep.equal([name, next, nextName(next)]);
  });

  for (const onConflict of ['rename', 'fail'] as const)
    it(`keeps files of one name apart that are uploaded at the same time, with on-conflict="${onConflict}"`, async () => {
      const name = uniqueName();
      const names: string[] = [];
      const { element } = await world({
        element: true,
        service: 'reference',
        parentId: 'folder-unique',
        onConflict,
      });
      element.addEventListener('upload-completed', ({ detail }) => names.push(detail.name));
      const ended = nextEvent(element, 'uploads-finished');
      await element.addFiles(
        ['a', 'b'].map((folder) => ({
          file: new File([folder.repeat(1000)], name),
          relativePath: `${folder}/${name}`,
        })),
      );
      await ended;
      if (onConflict === 'fail') {
        expect(element.snapshot.files.map(({ error }) => error?.code).sort()).to.deep.equal([
          'name-taken',
          undefined,
        ]);
        (await shown(() => all(element, '[part~="rename-button"]')[0])).click();
      }
      await until(() => names.length === 2);
      expect(names.sort()).to.deep.equal([name, nextName(name)].sort());
    });

  it('shows and announces nothing of the files of another owner', async () => {
    const { element } = await world({
      element: true,
      service: 'reference',
      manual: true,
      owner: 'ann',
      accept: '.txt',
    });
    await element.addFiles([textFile('secret.txt'), textFile('secret.exe')]);
    await shown(() => element.shadowRoot?.querySelector('[role="alert"]')?.textContent?.includes('secret'));
    element.owner = 'bob';
    await element.updateComplete;
    await shown(() => element.snapshot.files.length === 0 && all(element, '[part~="file"]').length === 0);
    expect(element.shadowRoot?.textContent).not.to.contain('secret');
  });
});
