import { Files } from './Files';

export default function Page() {
  return (
    <main>
      <h1>Files</h1>
      <Files />
    </main>
  );
}
