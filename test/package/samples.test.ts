// Checks the code samples of the documentation and of the doc comments: TypeScript, HTML and CSS.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import ts from 'typescript';
import { all, read, root, run, under } from '../support/documents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Documents whose samples must work. Decision records are excluded, because they quote old code. */
const guides = ['README.md', 'CONTRIBUTING.md', ...under('docs').filter((name) => !/decisions/.test(name))];
const blocksOf = (file: string, language: string): string[] =>
  all(read(file), new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'));
interface Sample {
  readonly file: string;
  readonly code: string;
}

/** Returns all samples in a language, each with the name of its document. */
const samples = (language: string): Sample[] =>
  guides.flatMap((file) => blocksOf(file, language).map((code) => ({ file, code })));

/** Imports and declarations that the `@example`s of methods use but do not contain. */
const EXAMPLE_CONTEXT = `import { Uploader, UploaderError } from 'secure-uploader/engine';
export declare const uploader: Uploader, input: HTMLInputElement, button: HTMLButtonElement, file: File;
void UploaderError;
`;

/** Returns the samples in a language that the doc comments of a source file contain. */
function examplesIn(file: string, language: string): Sample[] {
  const comments = all(read(file), /^ *\/\*\*\n((?: *\*.*\n)*?) *\*\/$/gm).map((text) =>
    text.replace(/^ *\* ?/gm, ''),
  );
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return comments
    .flatMap((text) => all(text, fence))
    .map((code) => ({
      file,
      code: language !== 'ts' || /^import /m.test(code) ? code : `${EXAMPLE_CONTEXT}${code}`,
    }));
}
/** The names that the sample for Angular uses. Angular is not installed. */
const ANGULAR = `declare module '@angular/core' {
  export const CUSTOM_ELEMENTS_SCHEMA: { readonly name: string };
  export const Component: (options: object) => ClassDecorator;
  export const Directive: (options: object) => ClassDecorator;
  export const ElementRef: new (...args: never[]) => { readonly nativeElement: unknown };
  export const effect: (run: () => void) => void;
  export const inject: (token: typeof ElementRef) => InstanceType<typeof ElementRef>;
  export const input: { required<T>(): () => T };
}
`;
const PUBLIC = [
  'src/engine/uploader.ts',
  'src/define.ts',
  'src/ui/secure-uploader.ts',
  'src/ui/secure-uploader-login.ts',
];
const examples = (language: string): Sample[] => PUBLIC.flatMap((file) => examplesIn(file, language));

/**
 * Returns all samples of the reference service as one sample, because each continues the one before. Declares the folder and the
 * hash that the samples use.
 */
const serviceSample = (): Sample => ({
  file: 'demo/server/README.md',
  code: `export declare const dataDir: string, hash: string;\n${blocksOf('demo/server/README.md', 'ts')
    .join('')
    .replace("'../../demo/", "'../../../demo/")}void token, expires_at, remove;\n`,
});

describe('The documentation', () => {
  test('has TypeScript that compiles', async () => {
    const cache = join(root, 'node_modules/.cache');
    await mkdir(cache, { recursive: true });
    const folder = temporaryFolder(cache);
    const documented = examples('ts');
    for (const file of PUBLIC.slice(0, 3))
      assert.ok(
        documented.some((example) => example.file === file),
        `${file} has no example`,
      );
    const inJsx = samples('tsx');
    assert.ok(inJsx.length > 0);
    const found = [...samples('ts'), ...documented, serviceSample(), ...inJsx];
    assert.ok(samples('ts').length > 10);
    const files = found.map(
      (sample, index) =>
        `block-${index + 1}-${sample.file.replace(/\W/g, '-')}.${inJsx.includes(sample) ? 'tsx' : 'ts'}`,
    );
    await Promise.all(found.map(({ code }, index) => writeFile(join(folder, files[index] ?? ''), code)));
    await writeFile(join(folder, 'angular.d.ts'), ANGULAR);
    const config = {
      extends: '../../../tsconfig.json',
      compilerOptions: { types: [], jsx: 'react-jsx' },
      files: [...files, 'angular.d.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { output } = run('node_modules/typescript/bin/tsc', '--project', folder, '--pretty', 'false');
    // Ignores errors in the sources, which another check reports.
    const own = output.split('\n').filter((line) => line.includes('block-'));
    assert.deepEqual(own, [], output);
  });

  test('has HTML with attributes of the element, and valid scripts', () => {
    const known = all(read('docs/reference.md'), /^\| `([a-z-]+)` \|/gm);
    const pages = [...samples('html'), ...examples('html')].map(({ code }) => code);
    const tags = pages.flatMap((html) => all(html, /<secure-uploader\s([^>]*)>/g));
    assert.ok(tags.length > 2);
    const used = tags.flatMap((tag) => all(tag, /([a-z-]+)(?:="[^"]*")?(?=\s|$)/g));
    assert.deepEqual(
      used.filter((name) => name !== 'id' && !known.includes(name)),
      [],
    );
    for (const script of pages.flatMap((html) => all(html, /<script[^>]*>([^<]+)<\/script>/g))) {
      const { diagnostics } = ts.transpileModule(script, { reportDiagnostics: true });
      assert.deepEqual(diagnostics?.map(({ messageText }) => messageText) ?? [], []);
    }
  });

  test('has CSS with custom properties, parts and states that the element has', () => {
    const reference = read('docs/reference.md');
    const styles = samples('css').map(({ code }) => code);
    assert.ok(styles.length > 2);
    const used = styles.flatMap((css) => [
      ...all(css, /(--secure-uploader-[\w-]+):/g),
      ...all(css, /::part\(([\w-]+)/g).map((part) => (part.endsWith('-button') ? 'button' : part)),
      ...all(css, /:state\((\w+)\)/g),
    ]);
    assert.deepEqual(
      used.filter((name) => !reference.includes(`| \`${name}\` |`)),
      [],
    );
  });
});
