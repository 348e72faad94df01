import 'secure-uploader/define';
import { getToken } from './get-token.js';

const uploader = document.querySelector('secure-uploader');
const status = document.querySelector('[role=status]');

uploader.getToken = getToken;
uploader.addEventListener('upload-completed', ({ detail }) => {
  status.textContent = `Uploaded ${detail.name}`;
});
