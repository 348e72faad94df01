import 'secure-uploader/define';
import { getToken } from './get-token';

const uploader = document.querySelector('secure-uploader');
const status = document.querySelector('[role=status]');

if (uploader && status) {
  uploader.getToken = getToken;
  uploader.addEventListener('upload-completed', ({ detail }) => {
    status.textContent = `Uploaded ${detail.name}`;
  });
}
