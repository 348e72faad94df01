import { Component, CUSTOM_ELEMENTS_SCHEMA, signal } from '@angular/core';
import type { SecureUploaderEventMap, SettingsInput } from 'secure-uploader';
import 'secure-uploader/define';
import { getToken } from './get-token';
import { UploaderSettings } from './uploader-settings';

@Component({
  selector: 'app-files',
  imports: [UploaderSettings],
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <secure-uploader [settings]="settings" (upload-completed)="onCompleted($event)"></secure-uploader>
    <p role="status">{{ status() }}</p>
  `,
})
export class Files {
  readonly settings: SettingsInput = {
    baseUrl: 'http://localhost:8787',
    uploadOrigins: 'http://localhost:8788',
    owner: 'alice',
    parentId: 'folder-a',
    commitPath: '/files/uploadsession/commit',
    multiple: true,
    getToken,
  };
  readonly status = signal('');

  onCompleted({ detail }: SecureUploaderEventMap['upload-completed']): void {
    this.status.set(`Uploaded ${detail.name}`);
  }
}
